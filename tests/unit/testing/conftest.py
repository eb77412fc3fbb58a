"""What runs of pytest inside of tests need not load."""

from __future__ import annotations

from collections.abc import Iterator

import pytest


@pytest.fixture(scope="module", autouse=True)
def _without_hypothesis() -> Iterator[None]:
    """None of these runs uses it, and its plugin takes a quarter of the time of a small run."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PYTEST_ADDOPTS", "-p no:hypothesispytest")
        yield
