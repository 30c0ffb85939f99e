"""The one place that makes the folder `kernels/` importable, under the name `clover_kernels`.

Hugging Face publishes a package called `kernels` which transformers probes for by name. The folder therefore has no
`__init__.py` of its own: an installed package wins the bare name, and ours is reached by a name nobody else has.
"""

import sys
from importlib.machinery import ModuleSpec
from importlib.util import module_from_spec
from pathlib import Path

FOLDER = Path(__file__).resolve().parent.parent / "kernels"
NAME = "clover_kernels"


def register() -> None:
    """Make `import clover_kernels.<module>` find the files of the folder. Idempotent; imports nothing heavy."""
    if NAME in sys.modules:
        return
    spec = ModuleSpec(NAME, None, is_package=True)
    spec.submodule_search_locations = [str(FOLDER)]
    sys.modules[NAME] = module_from_spec(spec)
