"""What an allowed difference is, and which differences none of them explains.

Every entry must still be true: one that no answer needs any more fails the comparison. The table
itself is in `differences.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from functools import cache
from typing import NamedTuple

from tests.compatibility.differential.comparing import MISSING, Difference
from tests.compatibility.differential.scripting import Run

from ottla.protocol.api_keys import ApiKey


class Allowed(NamedTuple):
    key: ApiKey
    case: str  # labels of the requests; * stands for anything, | for "or"
    field: str  # where in the answer, likewise; "" is the answer as a whole
    reason: str
    versions: range | None = None  # all that are tried, unless said
    script: str = "*"
    only_kafkas: bool = False  # Kafka returns something there, we do not

    def covers(self, difference: Difference) -> bool:
        script, version = difference.run
        return (
            script.key == self.key
            and (self.versions is None or version in self.versions)
            and matches(self.script, script.name)
            and matches(self.case, difference.label)
            and matches(self.field, difference.path)
            and (difference.ours == MISSING or not self.only_kafkas)
        )

    def tried_versions(self, runs: Iterable[Run]) -> list[int]:
        """The versions in which it must be seen, or the entry says too much."""
        tried = {
            run.version
            for run in runs
            if run.script.key == self.key and matches(self.script, run.script.name)
        }
        return sorted(tried if self.versions is None else tried & set(self.versions))


def matches(pattern: str, text: str) -> bool:
    return compiled(pattern).fullmatch(text) is not None


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    choices = [".*".join(map(re.escape, each.split("*"))) for each in pattern.split("|")]
    return re.compile("|".join(choices), re.DOTALL)


def unexplained(differences: Iterable[Difference], allowed: Sequence[Allowed]) -> list[Difference]:
    return [each for each in differences if not any(one.covers(each) for one in allowed)]


def no_longer_true(
    differences: Sequence[Difference], allowed: Sequence[Allowed], runs: Sequence[Run]
) -> list[str]:
    """Entries, or versions of entries, for which nothing differs."""
    return [
        f"{entry.key.name} v{version} | {entry.case} | {entry.field}: {entry.reason}"
        for entry in allowed
        for version in entry.tried_versions(runs)
        if not any(each.run.version == version and entry.covers(each) for each in differences)
    ]
