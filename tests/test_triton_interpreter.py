"""Triton's interpreter beside any NumPy: a kernel counts to a number that it was given."""

from types import SimpleNamespace

import pytest
import torch
from clover_kernels.interpreter import mend


class Scalar:
    """As a kernel sees a number: an array of one element in a handle."""

    def __init__(self, value):
        self.handle = SimpleNamespace(data=torch.tensor([value]).numpy())


def refuses(tensor, scope):
    """Triton 3.6's way, where NumPy makes no int of an array that has a dimension."""

    def index(self):
        raise TypeError("only 0-dimensional arrays can be converted to Python scalars")

    scope.set_attr(tensor, "__index__", index)
    scope.set_attr(tensor, "__str__", lambda self: "the library's own")


def without_scope(tensor):
    tensor.__index__ = lambda self: 1 / 0


@pytest.mark.parametrize("patch, scope", [(refuses, [SimpleNamespace(set_attr=setattr)]), (without_scope, [])])
def test_a_kernel_counts_to_what_it_was_given(patch, scope):
    class Tensor(Scalar):
        pass

    interpreter = SimpleNamespace(_patch_lang_tensor=patch)
    mend(interpreter)
    once = interpreter._patch_lang_tensor
    mend(interpreter)
    assert interpreter._patch_lang_tensor is once
    once(Tensor, *scope)
    assert list(range(Tensor(3))) == [0, 1, 2] and list(range(0, Tensor(5), 2)) == [0, 2, 4]
    assert patch is not refuses or str(Tensor(1)) == "the library's own"


def test_what_is_changed_for_a_launch_is_changed_back_by_the_scope():
    changed = []
    interpreter = SimpleNamespace(_patch_lang_tensor=lambda tensor, scope: None)
    mend(interpreter)
    interpreter._patch_lang_tensor(Scalar, SimpleNamespace(set_attr=lambda *change: changed.append(change[:2])))
    assert changed == [(Scalar, "__index__")] and not hasattr(Scalar, "__index__")


def test_compiled_kernels_and_other_interpreters_are_left_alone(monkeypatch):
    mend(SimpleNamespace())
    monkeypatch.setattr("clover_kernels.interpreter.import_module", lambda name: pytest.fail(name))
    for setting in ("0", ""):
        monkeypatch.setenv("TRITON_INTERPRET", setting)
        mend()
    monkeypatch.delenv("TRITON_INTERPRET")
    mend()
