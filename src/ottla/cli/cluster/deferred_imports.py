"""Modules that a library imports at its start, and a command may never use."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import contextmanager
from importlib import import_module
from types import ModuleType
from typing import Any


class DeferredModule(ModuleType):
    """The module of this name is imported when an attribute of it is used first."""

    def __getattr__(self, attribute: str) -> Any:
        name = self.__name__
        if sys.modules.get(name) is self:
            del sys.modules[name]
        return getattr(import_module(name), attribute)


@contextmanager
def deferred_import(name: str) -> Iterator[None]:
    """Modules that are imported in the block get a `DeferredModule` of this name; others do not."""
    if name in sys.modules:
        yield
        return
    sys.modules[name] = deferred = DeferredModule(name)
    try:
        yield
    finally:
        if sys.modules.get(name) is deferred:
            del sys.modules[name]
