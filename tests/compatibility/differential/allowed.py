"""Where our answers differ from Apache Kafka's on purpose: API, versions, case, field, reason.

Every entry must still be true: one that no answer needs any more fails the comparison.
`docs/reference/differences.md` is made from this table.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from functools import cache
from typing import NamedTuple

from tests.compatibility.differential.comparing import Difference

from ottla.protocol.api_keys import APIS, ApiKey


class Allowed(NamedTuple):
    key: ApiKey
    field: str  # where in the answer; * stands for anything, "" for the whole answer
    reason: str
    versions: range | None = None  # all that the API has, unless said
    case: str = "*"  # label of the request; * stands for anything
    script: str = "*"

    @property
    def all_versions(self) -> range:
        return self.versions or APIS[self.key].stable_versions

    def covers(self, difference: Difference) -> bool:
        script, version = difference.run
        return (
            script.key == self.key
            and version in self.all_versions
            and matches(self.script, script.name)
            and matches(self.case, difference.label)
            and matches(self.field, difference.path)
        )


def matches(pattern: str, text: str) -> bool:
    return compiled(pattern).fullmatch(text) is not None


@cache
def compiled(pattern: str) -> re.Pattern[str]:
    return re.compile(".*".join(map(re.escape, pattern.split("*"))), re.DOTALL)


ALLOWED: tuple[Allowed, ...] = ()


def unexplained(differences: Iterable[Difference]) -> list[Difference]:
    return [each for each in differences if not any(one.covers(each) for one in ALLOWED)]


def no_longer_true(differences: Iterable[Difference]) -> list[str]:
    """Entries, or versions of entries, for which nothing differs."""
    seen = list(differences)
    return [
        f"{entry.key.name} v{version} {entry.case} {entry.field}: {entry.reason}"
        for entry in ALLOWED
        for version in entry.all_versions
        if not any(each.run.version == version and entry.covers(each) for each in seen)
    ]
