"""How many threads compute while a page is open beside them."""

import os
from collections.abc import Mapping


def threads_beside_a_page(threads: int, cores: int, environment: Mapping[str, str]) -> int:
    """Of `threads` that would compute, those that leave a core of `cores` to the server and a browser on the machine.

    The threads of a product wait for the last of them: with one on every core, each frame that is drawn holds up all.
    Measured on two cores (`bench app --threads 2`): half the tokens a second of one thread while the page is open, and
    no more than one thread's without it. OMP_NUM_THREADS in the environment is somebody's choice and stays.
    """
    return threads if environment.get("OMP_NUM_THREADS") else max(1, min(threads, cores - 1))


def leave_a_core() -> None:
    """Sets torch's threads of this process so."""
    import torch

    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    torch.set_num_threads(threads_beside_a_page(torch.get_num_threads(), cores, os.environ))
