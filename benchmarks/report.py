"""Results of benchmarks, and their tables.

Tables are Markdown, for terminals and for the documentation. The ratio is ours to theirs, of the
medians; the title states which direction is better.
"""

from __future__ import annotations

import argparse
import os
import sys
from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field
from statistics import median

OURS, THEIRS = "ottla", "kafka"
BESIDE = "beside"  # another checkout of this project


@dataclass
class Report:
    title: str
    less_is_better: bool
    unit: str
    digits: int = 1
    heads: tuple[str, str] | None = None  # of the columns, if not the brokers' names
    values: dict[str, dict[str, list[float]]] = field(
        default_factory=lambda: defaultdict(lambda: defaultdict(list))
    )

    def add(self, row: str, broker: str, value: float) -> None:
        self.values[row][broker].append(value)

    def text(self) -> str:
        direction = "less is better" if self.less_is_better else "more is better"
        head = f"**{self.title}** ({self.unit}; {direction})"
        columns = " | ".join(
            f"{name} best / median" for name in self.heads or (OURS, self._compared)
        )
        lines = [f"| | {columns} | ratio |", "|---|---|---|---|"]
        lines += [self._line(row) for row in self.values]
        return "\n".join([head, "", *lines, ""])

    @property
    def _compared(self) -> str:
        names = {name for found in self.values.values() for name in found}
        return BESIDE if BESIDE in names else THEIRS

    def _line(self, row: str) -> str:
        found = self.values[row]
        cells = [self._pair(found.get(name)) for name in (OURS, self._compared)]
        return f"| {row} | {cells[0]} | {cells[1]} | {self._ratio(found)} |"

    def _pair(self, values: Sequence[float] | None) -> str:
        if not values:
            return "-"
        best = min(values) if self.less_is_better else max(values)
        return f"{best:,.{self.digits}f} / {median(values):,.{self.digits}f}"

    def _ratio(self, found: dict[str, list[float]]) -> str:
        ours, theirs = found.get(OURS), found.get(self._compared)
        if not ours or not theirs or not round(median(theirs), self.digits):
            return "-"  # also if theirs rounds to 0: a ratio would be noise
        return f"{median(ours) / median(theirs):.2f}"


def show(*reports: Report) -> None:
    for report in reports:
        print(report.text(), flush=True)


@dataclass
class Options:
    rounds: int
    is_long: bool
    brokers: list[str]


def options(description: str | None, rounds: int = 3) -> Options:
    """The common arguments of all benchmarks."""
    parser = argparse.ArgumentParser(
        description=description, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--rounds", type=int, default=rounds, help="of each broker, alternating")
    parser.add_argument("--long", action="store_true", help="more cases, more records")
    parser.add_argument("--only", choices=[OURS, THEIRS], help="one broker, nothing to compare")
    parser.add_argument(
        "--beside", metavar="CHECKOUT", help="compare with another checkout of this project"
    )
    found = parser.parse_args()
    load = os.getloadavg()[0]
    print(f"load {load:.2f} on {os.cpu_count()} processors at the start", file=sys.stderr)
    both = [OURS, found.beside or THEIRS]
    return Options(found.rounds, found.long, [found.only] if found.only else both)
