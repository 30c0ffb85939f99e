"""Triton's interpreter beside a NumPy that is newer than it."""

import os
from importlib import import_module


def mend(interpreter=None) -> None:
    """Lets a kernel count to a number that it was given, or has loaded: `for t in range(T)`.

    Under the interpreter such a number is an array of one element. Triton 3.6 makes an int of it by `int(array)`, which
    NumPy refuses from 2.4 on unless the array has no dimension; later Tritons do what is done here. Does nothing where
    kernels are compiled. `interpreter`: Triton's module, by default.
    """
    if interpreter is None:
        if os.environ.get("TRITON_INTERPRET") != "1":
            return
        interpreter = import_module("triton.runtime.interpreter")
    patch = getattr(interpreter, "_patch_lang_tensor", None)
    if patch is None or hasattr(patch, "mended"):
        return

    def mended(tensor, *scope):
        patch(tensor, *scope)
        # a scope keeps what is changed for a launch, to change it back; older Tritons have none
        change = scope[0].set_attr if scope else setattr
        change(tensor, "__index__", lambda self: int(self.handle.data.item()))

    mended.mended = True
    interpreter._patch_lang_tensor = mended
