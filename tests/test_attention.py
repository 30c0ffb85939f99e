"""The form in which a card is asked for attention equals the one a CPU is asked for, and copies nothing."""

import pytest
import torch
import torch.nn.functional as F

from clover_viz.model import attention
from clover_viz.model.attention import Attention

TOKENS, ROWS, WIDTH = 70, 90, 16  # more queries than `mix` folds by hand


class OnCard(torch.Tensor):
    """A tensor that says it is on a card."""

    device = property(lambda self: torch.device("cuda"))


def drawn(*lead, heads=8, kv_heads=2):
    generator = torch.Generator().manual_seed(len(lead) + heads)
    shapes = (heads, TOKENS), (kv_heads, ROWS), (kv_heads, ROWS)
    return [torch.randn(*lead, *shape, WIDTH, generator=generator) for shape in shapes]


CAUSAL = torch.ones(TOKENS, ROWS, dtype=torch.bool).tril(ROWS - TOKENS)
SOME = torch.stack([CAUSAL, CAUSAL & (torch.arange(ROWS) > 3), CAUSAL.flip(-1)]).unsqueeze(1)  # [N, 1, T, S]
SOME[..., -1] = True  # a query that sees nothing has no softmax
CASES = {
    "one text": ((), dict(), CAUSAL), "all seen": ((), dict(), None), "one key head": ((), dict(kv_heads=1), CAUSAL),
    "no groups": ((), dict(kv_heads=8), CAUSAL), "a batch": ((3,), dict(), CAUSAL), "a mask each": ((3,), dict(), SOME),
}  # fmt: skip


@pytest.mark.parametrize("case", CASES)
def test_a_card_s_form_equals_the_cpu_s(case, monkeypatch):
    lead, heads, seen = CASES[case]
    given, asked = drawn(*lead, **heads), []
    wanted = Attention.mix(*given, seen)

    def attend(q, k, v, attn_mask=None, **options):
        asked.append((q, k, v, attn_mask, options))
        return plain(q, k, v, attn_mask=attn_mask, **options)

    plain = F.scaled_dot_product_attention
    monkeypatch.setattr(attention.F, "scaled_dot_product_attention", attend)
    found = Attention.mix(*(x.as_subclass(OnCard) for x in given), seen)
    torch.testing.assert_close(found.as_subclass(torch.Tensor), wanted, atol=1e-6, rtol=1e-5)
    ((q, k, v, mask, options),) = asked
    assert not options  # no `enable_gqa`: with a mask no fused kernel has it
    assert q.dim() == k.dim() == v.dim() == 4 and q.shape[:2] == k.shape[:2] == v.shape[:2]
    for view, held in zip((k, v), given[1:]):
        assert view.untyped_storage().data_ptr() == held.untyped_storage().data_ptr() and view.stride(-1) == 1
    assert mask is None or mask.dim() in (2, 4) and mask.dtype == torch.bool


def test_torch_fuses_that_form_and_not_the_other(monkeypatch):
    """Of a CPU's choice; a card's asks for four dimensions and equal heads just so. 0 is plain products."""
    given, choice, chosen = drawn(), torch._fused_sdp_choice, []
    assert choice(*given, attn_mask=CAUSAL, enable_gqa=True) == 0
    monkeypatch.setattr(
        attention.F, "scaled_dot_product_attention", lambda q, *a, **k: chosen.append(choice(q, *a, **k)) or q
    )
    attention._by_key_head(*given, CAUSAL)
    assert len(chosen) == 1 and chosen[0] != 0


def test_gradients_pass_through_the_views():
    found, wanted = ([x.requires_grad_() for x in drawn(3)] for _ in range(2))
    attention._by_key_head(*found, SOME).square().sum().backward()
    Attention.mix(*wanted, SOME).square().sum().backward()
    for one, other in zip(found, wanted):
        torch.testing.assert_close(one.grad, other.grad, atol=1e-5, rtol=1e-4)


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16])
def test_a_card_s_scores_are_not_rounded(dtype, monkeypatch):
    """Of few queries: fp32 as they were summed, which a CPU's product cannot give (and says so)."""
    q, k, _ = (x.to(dtype) for x in drawn(heads=2))
    with pytest.raises(NotImplementedError, match="bmm.dtype"):
        attention._scores(q.as_subclass(OnCard), k.as_subclass(OnCard))

    def bmm(a, b, out_dtype):
        assert out_dtype is torch.float32
        return a.as_subclass(torch.Tensor).float() @ b.as_subclass(torch.Tensor).float()

    monkeypatch.setattr(attention.torch, "bmm", bmm)
    wanted = q.double() @ k.double().mT
    found = attention._scores(q.as_subclass(OnCard), k.as_subclass(OnCard))
    assert (found - wanted).abs().max() < 1e-4 < (attention._scores(q, k) - wanted).abs().max()


@pytest.mark.parametrize("seen", [None, CAUSAL[:4]])
def test_few_queries_in_bf16_on_tensors_without_memory(seen):
    """The product that a card is asked for exists with these shapes, also of rows of a longer cache."""
    q, k, v = (x.to(torch.bfloat16).to("meta") for x in drawn())
    k, v = (x.repeat(1, 2, 1)[:, :ROWS] for x in (k, v))
    mixed = Attention.mix(q[:, :4], k, v, seen if seen is None else seen.to("meta"))
    assert mixed.shape == (8, 4, WIDTH) and mixed.dtype == torch.bfloat16
