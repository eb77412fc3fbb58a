"""Patterns of a group are compared with all topics, whatever an older release has stored."""

from __future__ import annotations

from ottla.base.scheduling.steps import run_blocking
from ottla.coordinators.groups.pattern_matching import matching


def test_a_stored_pattern_that_cannot_be_compiled_stands_for_no_topic_and_stops_no_other() -> None:
    names = ["t", "u", "v"]
    found, unusable = run_blocking(matching(["(?!t)u", "t|u", "a" * 5000], names))
    assert found == {"(?!t)u": set(), "t|u": {"t", "u"}, "a" * 5000: set()}
    assert unusable.keys() == {"(?!t)u", "a" * 5000}
