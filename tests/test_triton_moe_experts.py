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


def test_a_gradient_comes_from_the_reference():
    x, (gate_up, down) = random(3, 8).requires_grad_(), parts(4, 8, 5)
    kernel.moe_experts(x, choices(3, 2, 4), torch.full((3, 2), 0.5), gate_up, down).sum().backward()
    assert torch.isfinite(x.grad).all()
