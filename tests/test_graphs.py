"""How a pass is captured, on a card that is not there: streams, pools, and what a capture that fails leaves behind."""

from contextlib import contextmanager

import pytest
import torch

from clover_viz.model.graphs import WARMUPS, Graphs


class Stream:
    def __init__(self, device=None):
        self.device = device

    def wait_stream(self, other):
        pass


class Card:
    """torch.cuda as far as a capture asks it, with its rules: `graph` leaves its stream only when the capture could be
    ended, and a pool whose capture could not be is taken for one that is being filled."""

    def __init__(self, monkeypatch):
        self.now, self.filled, self.captures, self.spoilt = Stream(), [], [], False
        self.home = self.now
        for name, value in {
            "Stream": Stream, "current_stream": lambda device: self.now, "CUDAGraph": Graph, "stream": self.stream,
            "graph_pool_handle": object, "device": self.device, "graph": self.graph,
        }.items():  # fmt: skip
            monkeypatch.setattr(torch.cuda, name, value)

    @contextmanager
    def device(self, device):
        yield

    @contextmanager
    def stream(self, stream):
        before, self.now = self.now, stream
        try:
            yield
        finally:
            self.now = before

    @contextmanager
    def graph(self, graph, pool, stream, capture_error_mode):
        assert all(pool is not other for other in self.filled), "already recording to this pool"
        assert capture_error_mode == "thread_local"
        self.captures.append((pool, stream))
        self.filled.append(pool)
        before, self.now = self.now, stream
        try:
            yield
        finally:
            if self.spoilt:
                raise RuntimeError("operation failed due to a previous error during capture")
            self.filled.remove(pool)
            self.now = before


class Graph:
    def replay(self):
        pass


@pytest.fixture
def card(monkeypatch):
    return Card(monkeypatch)


@pytest.fixture
def held(card):
    return Graphs(torch.device("cuda"), capture=True)


def test_all_captures_share_one_stream_and_those_of_a_kind_a_pool(card, held):
    """A pool's memory is only taken again on the stream it was first taken on."""
    seen = []
    for key in (("a", 1), ("b", 1), ("a", 2), ("b", 2), ("a", 1)):
        held.run(key, lambda: seen.append(card.now))
    pools, streams = zip(*card.captures)
    assert len(card.captures) == len(held) == 4 and len(set(map(id, streams))) == 1
    assert pools[0] is pools[2] is not pools[1] and pools[1] is pools[3]
    assert set(seen) == {streams[0]} and card.now is card.home
    assert len(seen) == 4 * (WARMUPS + 1)


@pytest.mark.parametrize("spoilt", [False, True], ids=["the function raises", "nor can the capture be ended"])
def test_a_capture_that_fails_leaves_everything_as_it_was(card, held, spoilt):
    held.run(("a", 1), lambda: None)
    runs = []

    def asks_the_host():
        runs.append(card.now)
        if len(runs) > WARMUPS:
            card.spoilt = spoilt
            raise ValueError("operation not permitted when stream is capturing")

    with pytest.raises(RuntimeError if spoilt else ValueError) as failure:
        held.run(("a", 2), asks_the_host)
    assert "not permitted" in str(failure.value.__context__ if spoilt else failure.value)
    assert card.now is card.home and len(held) == 1
    card.spoilt = False
    held.capture = False
    assert held.run(("a", 2), lambda: "as it is") == "as it is"
    held.capture = True
    assert held.run(("a", 3), lambda: "captured") == "captured"  # in a pool that takes it
    assert held.run(("a", 1), lambda: "another") is None and len(held) == 2


def test_a_function_that_fails_before_it_is_captured(card, held):
    with pytest.raises(ZeroDivisionError):
        held.run(("a", 1), lambda: 1 / 0)
    assert card.now is card.home and card.captures == [] and len(held) == 0
