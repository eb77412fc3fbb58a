"""CRC-32C: the function of the package crc32c, from its compiled module.

Its `__init__` also loads a command and `importlib.metadata`, with some 60 modules of the standard
library: a few percent of the time that a broker needs to start.
"""

from __future__ import annotations

import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec
from typing import TYPE_CHECKING, Any

__all__ = ["crc32c"]

PACKAGE, MODULE = "crc32c", "crc32c._crc32c"


def _compiled_module() -> Any:
    """None where the package has none by this name."""
    package = PathFinder.find_spec(PACKAGE)
    spec = package and PathFinder.find_spec(MODULE, package.submodule_search_locations)
    if spec is None or spec.loader is None:
        return None
    module = sys.modules[MODULE] = module_from_spec(spec)  # the package, if imported, uses it too
    spec.loader.exec_module(module)
    return module


if TYPE_CHECKING:
    from crc32c import crc32c
elif hasattr(module := sys.modules.get(MODULE) or _compiled_module(), "crc32c"):
    crc32c = module.crc32c
else:
    from crc32c import crc32c
