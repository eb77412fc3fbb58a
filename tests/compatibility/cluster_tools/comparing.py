"""What tools print on our brokers against what they print on Kafka's. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from difflib import unified_diff
from fnmatch import fnmatchcase

from tests.compatibility.cluster_tools.session import Outcome, Outcomes


@dataclass(frozen=True, slots=True)
class Allowed:
    """Lines of a call that may differ, in what both print, and why."""

    story: str
    call: str
    lines: str  # a regular expression for the beginning of a line
    why: str


ALLOWED = (
    Allowed(
        "cluster",
        "api versions",
        r"\w+\((17|29|30|31|36|38|39|40|41|51|7[6-9]|8\d|9\d)\): ",
        "APIs that are not announced: security, share groups, streams groups, a quorum that grows.",
    ),
    Allowed(
        "cluster",
        "features",
        r"Feature: (kraft|share|streams)\.version|Feature: eligible\.leader\.replicas\.version",
        "Features that we do not have; eligible leader replicas cannot be switched off.",
    ),
    Allowed(
        "cluster",
        "quorum*",
        r"Current(Voters|Observers):|<n> \S+ <n> <n> <ms> <ms> Observer",
        "The controller is asked where its broker is, and there are no observers.",
    ),
    Allowed(
        "*",
        "*broker*",
        r"(leader|follower)\.replication\.throttled\.rate=",
        "A throttle has a default, which is listed among its synonyms.",
    ),
)


def differences(story: str, kafkas: Outcomes, ours: Outcomes) -> list[str]:
    """Calls that did not end or print the same, each with the lines."""
    found = []
    for call in dict.fromkeys([*kafkas, *ours]):
        left_out = [
            each.lines
            for each in ALLOWED
            if fnmatchcase(story, each.story) and fnmatchcase(call, each.call)
        ]
        expected = without(kafkas.get(call, {}), left_out)
        printed = without(ours.get(call, {}), left_out)
        if expected != printed:
            lines = unified_diff(as_lines(expected), as_lines(printed), "Kafka", "Ottla", n=0)
            found.append("\n".join([f"{story}: {call}", *(line.rstrip() for line in lines)]))
    return found


def without(outcome: Outcome, left_out: Iterable[str]) -> Outcome:
    patterns = [re.compile(each) for each in left_out]
    return {
        part: [line for line in value if not any(each.match(line) for each in patterns)]
        if isinstance(value, list)
        else value
        for part, value in outcome.items()
    }


def as_lines(outcome: Outcome) -> list[str]:
    return [
        f"{part}: {line}"
        for part, value in outcome.items()
        for line in (value if isinstance(value, list) else [value])
    ]
