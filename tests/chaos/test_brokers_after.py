"""Which lines of a broker's log are problems."""

from __future__ import annotations

import pytest
from tests.chaos.brokers_after import problems_in

TIME = "2026-11-18 04:33:48,811"


@pytest.mark.parametrize(
    ("line", "kinds", "count"),
    [
        (f"{TIME} INFO ottla: loaded", [], 0),
        (f"{TIME} ERROR ottla: a bug", ["kill", "cut", "flip"], 1),
        ("Traceback (most recent call last):", ["kill"], 1),
        (f"{TIME} ERROR ottla: resigning, to load the metadata log again: lost", ["cut"], 0),
        (f"{TIME} ERROR ottla: resigning, to load the metadata log again: lost", ["kill"], 1),
        (f"{TIME} ERROR ottla: t-0 cannot follow broker 2: wrong checksum", ["flip"], 0),
        (f"{TIME} ERROR ottla: t-0 cannot follow broker 2: wrong checksum", ["cut"], 1),
    ],
)
def test_an_error_is_a_problem_unless_a_fault_explains_it(
    line: str, kinds: list[str], count: int
) -> None:
    assert len(list(problems_in([line, "next"], kinds))) == count
