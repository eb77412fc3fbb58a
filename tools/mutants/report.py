"""The table of a run, and the survivors by name."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from tools.mutants.judged import Judged, reason_for
from tools.mutants.mutant import Mutant
from tools.mutants.results import Outcome, Result

HEAD = """\
| part | mutants | sample | found | timed out | broken | equivalent | survived | score |
|---|---:|---:|---:|---:|---:|---:|---:|---:|"""


@dataclass
class Score:
    """Of one part. Mutants that were ended by a timeout or could not run are counted separately."""

    part: str
    mutants: int  # in the whole part
    counts: Counter[Outcome] = field(default_factory=Counter)
    equivalent: int = 0
    survivors: list[Mutant] = field(default_factory=list)

    def add(self, mutant: Mutant, result: Result, judged: Sequence[Judged]) -> None:
        self.counts[result.outcome] += 1
        if result.outcome.is_alive:
            if reason_for(mutant, judged) is None:
                self.survivors.append(mutant)
            else:
                self.equivalent += 1

    @property
    def percent(self) -> float:
        """Found by a test, of all that a test could find."""
        possible = self.counts.total() - self.equivalent
        caught = possible - len(self.survivors)
        return 100.0 * caught / possible if possible else 100.0

    def row(self) -> str:
        counts = self.counts
        cells = (
            self.part,
            self.mutants,
            counts.total(),
            counts[Outcome.FOUND],
            counts[Outcome.TIMED_OUT],
            counts[Outcome.BROKEN],
            self.equivalent,
            len(self.survivors),
            f"{self.percent:.0f} %",
        )
        return "| " + " | ".join(map(str, cells)) + " |"


def report_text(scores: Sequence[Score]) -> str:
    lines = [HEAD, *(score.row() for score in scores)]
    for score in scores:
        if score.survivors:
            lines += ["", f"{score.part} survived:"]
            lines += [f"  {mutant}" for mutant in sorted(score.survivors, key=str)]
    return "\n".join(lines)
