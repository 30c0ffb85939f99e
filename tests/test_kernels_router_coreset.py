"""The coreset rule: cases by hand, edges, and the published table on synthetic router logits."""

import pytest
import torch
from clover_kernels.router_coreset.reference import coreset, route, route_coreset
from torch.utils._python_dispatch import TorchDispatchMode

# (w, touched, kept, rerouted) of 256 experts, 32 slots, top-8, share 0.9; the article's figures are 163.4/126.7/1.1,
# 79.0/45.5/1.2, 40.8/16.2/1.6, 27.5/8.6/2.5.
TABLE = [(0, 163.4, 126.7, 1.1), (1, 78.8, 45.0, 1.2), (2, 40.5, 16.0, 1.6), (3, 27.8, 8.8, 2.3)]


@pytest.mark.parametrize("weight, touched, kept, rerouted", TABLE)
def test_the_published_table(weight, touched, kept, rerouted):
    generator = torch.Generator().manual_seed(7)
    own = torch.randn(1500, 32, 256, generator=generator)
    shared = torch.randn(1500, 1, 256, generator=generator)
    found = route_coreset(own + weight * shared, 8, 0.9)
    assert found.touched.float().mean().item() == pytest.approx(touched, rel=0.03)
    assert found.kept.float().mean().item() == pytest.approx(kept, rel=0.03)
    assert found.rerouted.mean().item() == pytest.approx(rerouted, rel=0.10)


def test_independent_routing_meets_the_closed_form():
    generator = torch.Generator().manual_seed(8)
    found = route_coreset(torch.randn(1500, 32, 256, generator=generator), 8, 0.9)
    assert found.touched.float().mean().item() == pytest.approx(256 * (1 - (1 - 8 / 256) ** 32), rel=0.01)


@pytest.mark.parametrize(
    "mass, top_p, kept",
    [
        ([0.5, 0.3, 0.2, 0.0], 0.9, [0, 1, 2]),  # 0.8 falls short
        ([0.5, 0.3, 0.2, 0.0], 0.8, [0, 1]),  # reached exactly
        ([0.5, 0.3, 0.2, 0.0], 0.79, [0, 1]),
        ([0.5, 0.3, 0.2, 0.0], 1.0, [0, 1, 2]),  # all touched, never the untouched one
        ([0.5, 0.3, 0.2, 0.0], 1e-9, [0]),  # at least one
        ([0.25, 0.25, 0.25, 0.25], 0.5, [0, 1]),  # ties: lower index first
        ([0.1, 0.4, 0.4, 0.1], 0.4, [1]),
        ([0.0, 0.0, 0.0, 1.0], 0.9, [3]),
        ([1.0, 1e-9, 1e-9, 0.0], 1.0, [0, 1, 2]),  # all of it, however little the last ones add in fp32
    ],
)
def test_cases(mass, top_p, kept):
    p = torch.tensor([mass])  # one slot that chose all four, as the softmax gave them
    allowed = coreset(p, torch.arange(4)[None], 4, top_p)
    assert allowed.nonzero().flatten().tolist() == kept


def tied(experts):
    """Router logits as bf16 holds them near 3: many are equal."""
    return (torch.randn(33, experts, generator=torch.Generator().manual_seed(experts)) + 3).bfloat16()


@pytest.mark.parametrize("experts, top_k", [(16, 4), (32, 4), (256, 8), (8, 8)])
def test_equal_probabilities_go_to_the_lower_expert(experts, top_k):
    logits = tied(experts)
    assert any(len(set(row.topk(top_k).values.tolist())) < top_k for row in logits)
    best = [sorted(range(experts), key=lambda e: (-row[e].item(), e))[:top_k] for row in logits]
    assert route(logits, top_k).experts.tolist() == best
    assert route_coreset(logits, top_k, 1.0).experts.tolist() == best
    equal = torch.zeros(3, experts)
    assert route(equal, top_k).experts.tolist() == [list(range(top_k))] * 3
    assert route_coreset(equal, top_k, 0.5).experts[:, : top_k // 2].tolist() == [list(range(top_k // 2))] * 3


def test_a_share_may_lie_in_a_tensor():
    """The same decisions to the bit, whether or not the number is known when the call is made."""
    logits = torch.randn(200, 32, 64, generator=torch.Generator().manual_seed(9)) * 2
    for top_p in (1e-6, 0.3, 0.9, 1.0):
        for shape in ((), (1,)):
            found = route_coreset(logits, 8, torch.full(shape, top_p))
            assert all(torch.equal(a, b) for a, b in zip(found, route_coreset(logits, 8, top_p), strict=True))


class Operations(TorchDispatchMode):
    """Names of what torch is asked for."""

    def __init__(self):
        super().__init__()
        self.names = set()

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        self.names.add(function.overloadpacket.__name__)
        return function(*args, **(kwargs or {}))


def test_nothing_is_added_in_an_order_that_a_card_chooses():
    """Sums of probabilities decide which experts a block gets: on a card `scatter_add` adds in any order."""
    p, experts = torch.rand(2, 32, 4), torch.rand(2, 32, 16).topk(4).indices
    with Operations() as asked:
        allowed = coreset(p, experts, 16, 0.5)
    assert not asked.names & {"scatter_add", "scatter_add_", "index_add", "index_add_", "scatter_reduce", "index_put_"}
    mass = torch.zeros(2, 16, dtype=torch.float64).scatter_add(-1, experts.flatten(1), p.flatten(1).double())
    for block in range(2):
        ranked = mass[block].argsort(descending=True)
        needed = 1 + int((mass[block][ranked].cumsum(0) < 0.5 * mass[block].sum()).sum())
        assert allowed[block].nonzero().flatten().tolist() == sorted(ranked[:needed].tolist())


def test_probabilities_are_not_renormalised():
    """A slot that is sure of its experts outweighs one that is not: renormalised shares would not tell them apart."""
    sure = [10.0, -9.0, -9.0, -9.0]
    unsure = [-9.0, 0.2, 0.1, 0.0]
    p = torch.tensor([sure, unsure]).softmax(-1)
    top, experts = p.topk(1)
    assert coreset(top, experts, 4, 0.7).tolist() == [True, False, False, False]  # 1.0 of 1.0 + 0.37
    assert coreset(top / top, experts, 4, 0.7).sum() == 2


def test_fewer_experts_than_k():
    logits = torch.zeros(4, 8)
    logits[:, 5] = 20.0
    found = route_coreset(logits, 4, 0.5)
    assert found.kept.item() == 1
    assert (found.experts[:, 0] == 5).all()
    assert torch.equal(found.weights, torch.tensor([[1.0, 0, 0, 0]] * 4))
    assert found.rerouted.item() == 3.0


@pytest.mark.parametrize("slots", [1, 2, 32])
@pytest.mark.parametrize("top_p", [1e-6, 0.3, 0.9, 1.0])
@pytest.mark.parametrize("top_k", [1, 4, 16])
def test_weights_are_a_distribution_over_allowed_experts(slots, top_p, top_k):
    logits = torch.randn(slots, 16, generator=torch.Generator().manual_seed(slots)) * 4
    found = route_coreset(logits, top_k, top_p)
    assert torch.isfinite(found.weights).all()
    torch.testing.assert_close(found.weights.sum(-1), torch.ones(slots))
    used = found.experts[found.weights > 0].unique()
    assert 1 <= len(used) <= found.kept.item() <= found.touched.item() <= min(16, slots * top_k)


def test_share_one_changes_nothing():
    logits = torch.randn(32, 64, generator=torch.Generator().manual_seed(3))
    free, limited = route(logits, 8), route_coreset(logits, 8, 1.0)
    assert torch.equal(free.experts, limited.experts)
    torch.testing.assert_close(free.weights, limited.weights)
    assert free.touched == limited.touched == limited.kept == free.kept
    assert limited.rerouted == 0


def test_each_block_of_a_batch_has_its_own_coreset():
    logits = torch.randn(5, 8, 16, generator=torch.Generator().manual_seed(4)) * 3
    together = route_coreset(logits, 4, 0.6)
    for i in range(5):
        alone = route_coreset(logits[i], 4, 0.6)
        assert torch.equal(together.experts[i], alone.experts)
        assert together.kept[i] == alone.kept and together.rerouted[i] == alone.rerouted


def test_slots_left_out_do_not_count():
    logits = torch.randn(2, 8, 16, generator=torch.Generator().manual_seed(5)) * 3
    valid = torch.arange(8) < torch.tensor([[3], [8]])
    found = route_coreset(logits, 4, 0.6, valid)
    for i, size in enumerate((3, 8)):
        alone = route_coreset(logits[i, :size], 4, 0.6)
        assert torch.equal(found.experts[i, :size], alone.experts)
        assert (found.touched[i], found.kept[i]) == (alone.touched, alone.kept)
        assert found.rerouted[i].item() == pytest.approx(alone.rerouted.item())
