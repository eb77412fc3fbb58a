"""The tests of this folder share parsed modules: one worker runs them all.

They are many objects, and no test of another folder uses them. The garbage collector would visit
them again and again: it took more time than the parser.
"""

from __future__ import annotations

import gc
from pathlib import Path

import pytest
from tests.architecture.sources import nodes_of, tree_of

HERE = Path(__file__).parent


def pytest_runtest_setup() -> None:
    gc.disable()


def pytest_runtest_teardown(nextitem: pytest.Item | None) -> None:
    """Not a fixture of the package: that would end with the session, after tests of others."""
    if nextitem is None or HERE not in nextitem.path.parents:
        gc.enable()
        nodes_of.cache_clear()
        tree_of.cache_clear()
