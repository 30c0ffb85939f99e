"""What every test relies on: the kernels' own name, no thread count that depends on the machine, and one browser."""

import os

import pytest

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

from clover_viz.kernel_folder import register  # noqa: E402

register()


@pytest.fixture(scope="module")
def browser():
    """A Chromium for one file's tests. Playwright's loop runs while it is open, so it closes before the next file."""
    from browser import chromium

    with chromium() as found:
        yield found
