"""What every test run does: the requirements that tests name are looked for before each of them.

What was skipped, and why, is listed at the end of every run (`-ra` in pyproject.toml).
"""

from __future__ import annotations

import os

import pytest
from tests.support.requirements import VARIABLE, judge, required_names


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "native: needs the compiled record module")
    try:
        required_names(os.environ.get(VARIABLE, ""))
    except ValueError as error:
        raise pytest.UsageError(str(error)) from error


def pytest_runtest_setup(item: pytest.Item) -> None:
    markers = [marker.name for marker in item.iter_markers()]
    verdict = judge(markers, required_names(os.environ.get(VARIABLE, "")))
    if verdict is None:
        return
    if verdict.is_failure:
        pytest.fail(f"{verdict.reason} ({VARIABLE} demands it)", pytrace=False)
    pytest.skip(f"{verdict.reason} (fails instead of skipping where {VARIABLE} demands it)")
