"""What became of each mutant, in a file that grows by a line at a time.

Owns      the results file; a run that was stopped continues where it was.
Promises  a result counts only for the source that it was found with. A mutant that was found stays
          found while its file is the same; a survivor is tried again once any test has changed.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

from tools.mutants.mutant import Mutant


class Outcome(StrEnum):
    FOUND = "found"  # a test failed
    TIMED_OUT = "timed out"  # a test did not come to its end
    BROKEN = "broken"  # the module cannot be imported, or the process died
    SURVIVED = "survived"
    UNCOVERED = "uncovered"  # no test runs the line

    @property
    def is_alive(self) -> bool:
        return self in (Outcome.SURVIVED, Outcome.UNCOVERED)


@dataclass(frozen=True)
class Result:
    key: str
    outcome: Outcome
    source_digest: str
    tests_digest: str
    test: str = ""  # that noticed
    seconds: float = 0.0
    tests_run: int = 0


def digest(paths: Iterable[Path], root: Path) -> str:
    """Of the content of files, and of their names below the root."""
    found = hashlib.sha256()
    for path in sorted(paths):
        found.update(str(path.relative_to(root)).encode())
        found.update(path.read_bytes())
    return found.hexdigest()[:16]


class Results:
    def __init__(self, path: Path) -> None:
        self._path = path
        self.known: dict[str, Result] = {}
        if path.exists():
            for line in path.read_text().splitlines():
                stored = json.loads(line)
                stored["outcome"] = Outcome(stored["outcome"])
                self.known[stored["key"]] = Result(**stored)

    def get(self, mutant: Mutant, source_digest: str, tests_digest: str) -> Result | None:
        result = self.known.get(mutant.key)
        if result is None or result.source_digest != source_digest:
            return None
        if result.outcome.is_alive and result.tests_digest != tests_digest:
            return None
        return result

    def add(self, result: Result) -> None:
        self.known[result.key] = result
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with self._path.open("a") as file:  # one write, so that workers may share the file
            file.write(json.dumps(asdict(result)) + "\n")
