"""Where Triton runs, where it does not, and what is said about it. No card is needed: its answers are made up."""

import pytest
import torch
from clover_kernels import selection, tiles
from clover_kernels.selection import OPS, select
from triton_helpers import interpreted

for op in OPS:  # as functions of the interpreter, before anything else defines them
    interpreted(op)


@pytest.fixture
def card(monkeypatch):
    """A machine with a card whose capability is given."""

    def of(capability):
        monkeypatch.delenv("TRITON_INTERPRET", raising=False)
        monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
        monkeypatch.setattr(torch.version, "cuda", "13.0")
        monkeypatch.setattr(torch.cuda, "get_device_capability", lambda device: capability)
        monkeypatch.setattr(torch.cuda, "get_device_name", lambda device: "Some Card")

    return of


@pytest.mark.parametrize("setting", [None, "0", ""])
def test_a_cpu_is_refused(monkeypatch, setting):
    if setting is None:
        monkeypatch.delenv("TRITON_INTERPRET", raising=False)
    else:
        monkeypatch.setenv("TRITON_INTERPRET", setting)
    with pytest.raises(ValueError, match="^kernels=triton cannot run: Triton needs a CUDA device, the model is on cpu"):
        select("cpu", "triton")


def test_a_cpu_interprets_when_asked_to(monkeypatch):
    monkeypatch.setenv("TRITON_INTERPRET", "1")
    chosen = select("cpu", "triton")
    assert chosen.name == "triton" and "TRITON_INTERPRET" in chosen.reason
    for names in OPS.values():
        assert all(getattr(chosen, name).__module__.endswith("triton_kernel") for name in names)
    assert select("cpu").name == "reference", "slow: never chosen by itself"
    with pytest.raises(ValueError, match="the model is on mps"):
        select("mps", "triton")


def test_a_card_gets_triton(card):
    card((9, 0))
    assert (select("cuda", "triton").name, select("cuda", "triton").reason) == ("triton", "Some Card")
    assert (select("cuda").name, select("cuda").reason) == ("reference", selection.UNPROVEN)
    assert select("cuda", "reference").name == "reference"


@pytest.mark.parametrize(
    "spoiled, reason",
    [
        (lambda patch: patch.setattr(selection, "find_spec", lambda name: None), "Triton is not installed"),
        (lambda patch: patch.setattr(torch.cuda, "is_available", lambda: False), "torch sees no CUDA device"),
        (lambda patch: patch.setattr(torch.version, "cuda", None), "NVIDIA"),
        (lambda patch: patch.setattr(torch.cuda, "get_device_capability", lambda device: (7, 5)), "8.0 or newer"),
    ],
)
def test_what_is_in_the_way_is_said_in_one_line(card, monkeypatch, spoiled, reason):
    card((9, 0))
    spoiled(monkeypatch)
    chosen = select("cuda")
    assert chosen.name == "reference" and reason in chosen.reason and "\n" not in chosen.reason
    with pytest.raises(ValueError, match="cannot run") as refused:
        select("cuda", "triton")
    assert chosen.reason in str(refused.value)


def test_a_build_that_cannot_be_imported(card, monkeypatch):
    card((9, 0))

    def broken(name):
        raise ImportError("libcuda.so.1:\n no such file")

    with monkeypatch.context() as patch:
        patch.setattr(selection, "import_module", broken)
        with pytest.raises(ValueError, match=r"Triton cannot be imported \(libcuda.so.1: no such file\)"):
            select("cuda", "triton")


def test_a_named_card_is_current_while_it_works(card, monkeypatch):
    card((9, 0))
    entered = []

    class Current:
        def __init__(self, device):
            self.device = device

        def __enter__(self):
            entered.append(self.device)

        def __exit__(self, *_):
            pass

    monkeypatch.setattr(torch.cuda, "device", Current)
    batch = torch.zeros(1, 2, 3, 4)  # the reference's: nothing is launched
    select("cuda:1", "triton").route(batch, 2)
    assert entered == [torch.device("cuda:1")]


@pytest.mark.parametrize(
    "capability, tile",
    [((8, 0), 80), ((8, 6), 120), ((8, 9), 120), ((8, 7), 80), ((9, 0), 90), ((10, 0), 100), ((10, 3), 100),
     ((11, 0), 100), ((12, 0), 120), ((12, 1), 120), ((13, 0), 120)],
)  # fmt: skip
def test_every_card_has_tiles(capability, tile):
    assert tiles.nearest(capability) == tile in tiles.ARCHITECTURES
