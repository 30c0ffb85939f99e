"""The experts' three launches against the reference."""

import pytest
import torch
from clover_kernels.moe_experts import reference
from triton_helpers import CLOSE, DTYPES, interpreted, poisoned, random, strided  # noqa: F401

kernel = interpreted("moe_experts")


def parts(number, width, inner, dtype=torch.float32):
    gate_up = random(number, 2 * inner, width, seed=1, dtype=dtype, scale=width**-0.5)
    return gate_up, random(number, width, inner, seed=2, dtype=dtype, scale=inner**-0.5)


def exactly(x, experts, weights, gate_up, down):
    """The reference in fp64: it rounds bf16 between the products, the kernel only what it keeps of the first."""
    return reference.moe_experts(x.double(), experts, weights.double(), gate_up.double(), down.double()).to(x.dtype)


def choices(tokens, top_k, number, kind="spread", seed=0):
    g = torch.Generator().manual_seed(seed)
    if kind == "all to one":
        return torch.arange(top_k).expand(tokens, top_k).contiguous()
    return torch.stack([torch.randperm(number, generator=g)[:top_k] for _ in range(tokens)])


def compare(x, experts, weights, gate_up, down):
    found = kernel.moe_experts(x, experts, weights, gate_up, down)
    assert found.dtype == x.dtype
    torch.testing.assert_close(found, exactly(x, experts, weights, gate_up, down), **CLOSE[x.dtype])
    return found


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "tokens, kind", [(1, "spread"), (2, "spread"), (3, "all to one"), (17, "spread"), (32, "spread")]
)
def test_equals_the_reference(tokens, kind, dtype):
    number, width, inner, top_k = 7, 20, 18, 3
    x = strided(random(tokens, width, dtype=DTYPES[dtype]))
    experts = choices(tokens, top_k, number, kind)
    weights = random(tokens, top_k, seed=3).softmax(-1).to(x.dtype)
    compare(x, experts, weights, *parts(number, width, inner, x.dtype))


@pytest.mark.parametrize("tokens, kind", [(33, "spread"), (40, "all to one")])
def test_longer_than_a_block(tokens, kind):
    """Pairs sorted by expert: more than one tile of an expert, tiles that are not full, experts that nobody chose."""
    number, top_k = 9, 2
    x, experts = random(tokens, 12), choices(tokens, top_k, number - 2, kind)
    compare(x, experts, random(tokens, top_k, seed=3).softmax(-1), *parts(number, 12, 6))


def test_every_expert_and_no_choice():
    """K = E, and one expert alone."""
    for number in (4, 1):
        x, experts = random(3, 8), choices(3, number, number)
        compare(x, experts, random(3, number, seed=3).softmax(-1), *parts(number, 8, 5))


def test_tiles_over_wide_experts():
    """Wider than a tile in every direction: columns in steps, rows over programs, and no whole number of either."""
    sizes = kernel.TILES[80]
    x, experts = random(2, sizes.depth + sizes.leave + 7), torch.tensor([[0, 1], [1, 0]])
    compare(x, experts, random(2, 2, seed=3).softmax(-1), *parts(2, x.shape[1], sizes.depth + sizes.enter + 3))


def test_a_choice_of_weight_zero_is_not_read():
    """Experts past a small coreset: their weights may be anything, even NaN; who chose them first works for nobody."""
    x, (gate_up, down) = random(3, 8), parts(4, 8, 5)
    experts = torch.tensor([[0, 1], [1, 2], [2, 0]])
    weights = torch.tensor([[1.0, 0.0], [0.5, 0.5], [1.0, 0.0]])
    wanted = exactly(x, experts, weights, gate_up, down)
    torch.testing.assert_close(kernel.moe_experts(x, experts, weights, gate_up, down), wanted, **CLOSE[x.dtype])
    gate_up[3], down[3] = float("nan"), float("nan")
    experts[0, 1] = experts[2, 1] = 3
    torch.testing.assert_close(kernel.moe_experts(x, experts, weights, gate_up, down), wanted, **CLOSE[x.dtype])


def test_the_plan_of_a_block():
    """Touched experts in order, each with every token's pair; a choice of weight 0 touches none."""
    experts, weights = torch.tensor([[5, 2], [2, 0], [5, 3]]), torch.tensor([[0.5, 0.5], [0.9, 0.1], [1.0, 0.0]])
    expert_of, pairs, count = kernel._block_plan(experts, weights, 7, 16)
    assert count.item() == 3 and expert_of[:3].tolist() == [0, 2, 5]
    assert pairs[:3, :3].tolist() == [[-1, 3, -1], [1, 2, -1], [0, -1, 4]] and pairs[:3, 3:].eq(-1).all()


def test_the_plan_of_a_prompt():
    """Every pair in one group of its expert, no group of two experts, and none past the count."""
    experts = torch.cat((choices(40, 2, 5), choices(9, 2, 2)))
    expert_of, pairs, count = kernel._prompt_plan(experts, 7, 16)
    found = sorted(
        (int(expert_of[group]), pair) for group in range(int(count)) for pair in pairs[group].tolist() if pair >= 0
    )
    assert found == sorted((int(expert), pair) for pair, expert in enumerate(experts.flatten()))
    assert (pairs[: int(count)] >= 0).any(1).all()


@pytest.mark.parametrize("processors", [1, 2, 50])
def test_works_are_shared_out(monkeypatch, processors):
    """More works than programs, as many, and fewer: the sum of a token is the same to the bit."""
    given = random(5, 40), choices(5, 3, 6), random(5, 3, seed=3).softmax(-1), *parts(6, 40, 70)
    wanted = kernel.moe_experts(*given)
    monkeypatch.setattr(kernel.tiles, "processors", lambda device: processors)
    assert torch.equal(kernel.moe_experts(*given), wanted)


@pytest.mark.parametrize("tokens", [2, 40])
def test_nothing_is_chosen(tokens):
    x, experts = random(tokens, 8), choices(tokens, 2, 4)
    found = kernel.moe_experts(x, experts, torch.zeros(tokens, 2), *parts(4, 8, 5))
    assert found.eq(0).all()


def test_weights_may_be_fp32_beside_bf16():
    """As the router gives them: the kernel takes them as they are, the reference rounds them."""
    x, experts = random(4, 8, dtype=torch.bfloat16), choices(4, 2, 4)
    weights, given = random(4, 2, seed=3).softmax(-1), parts(4, 8, 5, torch.bfloat16)
    compare(x, experts, weights, *given)
    assert torch.equal(reference.moe_experts(x, experts, weights, *given),
                       reference.moe_experts(x, experts, weights.to(x.dtype), *given))  # fmt: skip


def test_a_gradient_comes_from_the_reference():
    x, (gate_up, down) = random(3, 8).requires_grad_(), parts(4, 8, 5)
    kernel.moe_experts(x, choices(3, 2, 4), torch.full((3, 2), 0.5), gate_up, down).sum().backward()
    assert torch.isfinite(x.grad).all()
