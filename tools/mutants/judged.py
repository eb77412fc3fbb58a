"""Survivors that were reviewed and are no fault: why no test could distinguish them.

`judged.toml` is the list. A survivor that is a fault does not go there: it gets a test.
"""

from __future__ import annotations

import tomllib
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tools.mutants.mutant import Mutant

FILE = Path(__file__).with_name("judged.toml")


@dataclass(frozen=True)
class Judged:
    path: str
    function: str
    change: str
    why: str
    number: int | None = None  # where a function has the same change several times; None: all

    def is_about(self, mutant: Mutant) -> bool:
        place = (mutant.path.removeprefix("src/ottla/"), mutant.function, mutant.change)
        return place == (self.path, self.function, self.change) and (
            self.number in (None, mutant.number)
        )


def read_judged(path: Path = FILE) -> list[Judged]:
    stored = tomllib.loads(path.read_text()) if path.exists() else {}
    return [Judged(**each) for each in stored.get("equivalent", [])]


def reason_for(mutant: Mutant, judged: Iterable[Judged]) -> str | None:
    return next((each.why for each in judged if each.is_about(mutant)), None)


def stale(judged: Iterable[Judged], part: str, mutants: Iterable[Mutant]) -> list[Judged]:
    """Judgements of a part whose code has changed since."""
    known = list(mutants)
    of_part = [each for each in judged if each.path.startswith(f"{part}/")]
    return [each for each in of_part if not any(each.is_about(mutant) for mutant in known)]
