from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.unit.handlers.world import World


@pytest.fixture
def world() -> Iterator[World]:
    """A broker with nothing in it."""
    with World() as world:
        yield world
