"""The tests of this folder share parsed modules: one worker runs them all."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from tests.architecture.sources import nodes_of, tree_of


@pytest.fixture(scope="package", autouse=True)
def _parsed_modules() -> Iterator[None]:
    """They are many objects, and no test of another folder uses them.

    The garbage collector would visit them again and again: it took more time than the parser.
    """
    gc.disable()
    yield
    gc.enable()
    nodes_of.cache_clear()
    tree_of.cache_clear()
