"""What every test relies on: the kernels' own name, and no thread count that depends on the machine."""

import os

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("HF_HUB_OFFLINE", "1")

from clover_viz.kernel_folder import register  # noqa: E402

register()
