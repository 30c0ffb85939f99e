"""Both convolutions: the kernel against the reference."""

import pytest
import torch
from clover_kernels.conv import reference
from triton_helpers import CLOSE, DTYPES, interpreted, poisoned, random, strided  # noqa: F401

kernel = interpreted("conv")


def case(length, channels, dtype):
    x, ring = random(length, channels, dtype=dtype), random(3, channels, seed=1, dtype=dtype)
    return x, ring, random(channels, 4, seed=2, dtype=dtype), random(channels, 3, seed=3, dtype=dtype)


def exactly(x, ring, taps, right):
    """The reference in fp64: it rounds bf16 after every tap, the kernel once."""
    inputs = [y.double() for y in (x, ring, taps, right)]
    return reference.causal_conv(*inputs[:3]).to(x.dtype), reference.block_conv(*inputs).to(x.dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("length, channels", [(1, 1), (1, 88), (2, 5), (3, 129), (31, 88), (32, 256), (33, 7)])
def test_equals_the_reference(length, channels, dtype):
    x, ring, taps, right = case(length, channels, DTYPES[dtype])
    causal, block = exactly(x, ring, taps, right)
    for given, before in ((x, ring), (strided(x), strided(ring))):
        torch.testing.assert_close(kernel.causal_conv(given, before, taps), causal, **CLOSE[x.dtype])
        torch.testing.assert_close(kernel.block_conv(given, before, taps, right), block, **CLOSE[x.dtype])


def test_taps_as_the_model_keeps_them():
    """conv1d.weight [C, 1, 4] without its middle; a ring cut from the rows of an earlier pass."""
    x, _, taps, right = case(9, 20, torch.float32)
    weight, rows = taps.unsqueeze(1).clone(), random(3 + 5, 20, seed=4)
    found = kernel.block_conv(x, rows[2:5], weight.squeeze(1), right)
    torch.testing.assert_close(found, reference.block_conv(x, rows[2:5], taps, right), **CLOSE[x.dtype])


def test_the_parts_of_a_text_join():
    x, ring, taps, _ = case(20, 12, torch.float32)
    whole, rows = kernel.causal_conv(x, ring, taps), torch.cat((ring, x))
    for cut in (1, 2, 3, 7):
        parts = kernel.causal_conv(x[:cut], ring, taps), kernel.causal_conv(x[cut:], rows[cut : cut + 3], taps)
        assert torch.equal(torch.cat(parts), whole)


def test_rows_past_the_end_add_nothing():
    """Also where a tile of rows ends: slot 7 reads slots 8 to 10, the last slot reads none."""
    x, ring, taps, right = case(11, 4, torch.float32)
    found = kernel.block_conv(x, ring, taps * 0, right)
    wanted = torch.nn.functional.silu(x[10] * right[:, 2] + x[9] * right[:, 1] + x[8] * right[:, 0])
    torch.testing.assert_close(found[7], wanted)
    assert found[10].eq(0).all()


def test_batches_and_gradients_come_from_the_reference():
    x, ring, taps, right = case(5, 4, torch.float32)
    batch = (torch.stack((x, x * 2)), torch.stack((ring, ring)))
    assert torch.equal(kernel.causal_conv(*batch, taps), reference.causal_conv(*batch, taps))
    right.requires_grad_()
    kernel.block_conv(x, ring, taps, right).sum().backward()
    assert torch.isfinite(right.grad).all()
