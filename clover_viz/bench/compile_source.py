"""Triton kernels compiled for a card that is not here, exactly as a launch would compile them."""

import re
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple
from unittest import mock

import torch
import triton
from triton.backends.compiler import GPUTarget
from triton.compiler import ASTSource
from triton.runtime.jit import JITFunction

TYPES = {
    torch.float32: "*fp32", torch.bfloat16: "*bf16", torch.float16: "*fp16",
    torch.int64: "*i64", torch.int32: "*i32", torch.bool: "*i1",
}  # fmt: skip
ALIGNED = [["tt.divisibility", 16]]


class Launch(NamedTuple):
    """One launch of a kernel: what it was given, and how."""

    kernel: JITFunction
    arguments: dict[str, Any]
    options: dict[str, int]  # num_warps, num_stages

    @property
    def name(self) -> str:
        return self.kernel.__name__.lstrip("_")


class Resources(NamedTuple):
    """What a compiled kernel takes; None where it could not be read.

    registers: of a thread. stack: bytes of a thread, where spilled registers go. shared: bytes of a program.
    """

    registers: int | None
    stack: int | None
    shared: int


@contextmanager
def launches() -> Iterator[list[Launch]]:
    """Collects the launches made inside instead of running them."""
    found: list[Launch] = []

    def record(kernel, *args, grid, warmup=False, **kwargs):
        names = kernel.arg_names
        options = {key: value for key, value in kwargs.items() if key not in names}
        found.append(Launch(kernel, dict(zip(names, args)) | {k: kwargs[k] for k in names if k in kwargs}, options))

    with mock.patch.object(JITFunction, "run", record):
        yield found


def source(launch: Launch) -> ASTSource:
    """Types and constants of the arguments as a launch specialises them: the compiler knows whole 16s and ones."""
    signature, constants, attributes = {}, {}, {}
    for i, parameter in enumerate(launch.kernel.params):
        value = launch.arguments[parameter.name]
        specialised = not parameter.do_not_specialize
        if parameter.is_constexpr or value is None or (specialised and type(value) is int and value == 1):
            signature[parameter.name], constants[parameter.name] = "constexpr", value
        elif isinstance(value, torch.Tensor):
            signature[parameter.name] = TYPES[value.dtype]
            if value.storage_offset() * value.element_size() % 16 == 0:
                attributes[(i,)] = ALIGNED
        elif isinstance(value, float):
            signature[parameter.name] = "fp32"
        else:
            signature[parameter.name] = "i32" if -(2**31) <= value < 2**31 else "i64"
            if specialised and value % 16 == 0:
                attributes[(i,)] = ALIGNED
    return ASTSource(launch.kernel, signature, constants, attributes)


def compile_for(launch: Launch, architecture: int) -> Resources:
    """Compiles for compute capability `architecture` (80, 90 ...). Raises what Triton's compiler raises."""
    done = triton.compile(source(launch), target=GPUTarget("cuda", architecture, 32), options=launch.options)
    return Resources(*_registers_and_stack(done.asm["cubin"]), done.metadata.shared)


def _registers_and_stack(cubin: bytes) -> tuple[int | None, int | None]:
    with tempfile.NamedTemporaryFile(suffix=".cubin") as file:
        file.write(cubin)
        file.flush()
        try:
            told = _run([triton.knobs.nvidia.cuobjdump.path, "--dump-resource-usage", file.name])
        except (OSError, RuntimeError, AttributeError, subprocess.SubprocessError):
            return None, None
    found = re.search(r"REG:(\d+)\s+STACK:(\d+)", told)
    return (int(found[1]), int(found[2])) if found else (None, None)


def _run(command: list[str]) -> str:
    return subprocess.run(command, check=True, capture_output=True, text=True, timeout=60).stdout
