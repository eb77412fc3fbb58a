"""Prints where the time of the last `make test-times` went.

    python -m tools.test_times [--depth 3] [--rows 25]

CPU time is that of the test processes and of all that they started: it changes less with the load
of the machine than wall time does. Waiting is the rest of the wall time: for a processor, a disk, a
timer or another process.
"""

from __future__ import annotations

import argparse
import json
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

FOLDER = Path(__file__).parents[1] / ".cache" / "test-times"
Line = dict[str, Any]
# Started programs by words of their command; the first that fits counts.
PROGRAMS = {
    "interop.KafkaNode": "Apache Kafka node",
    "interop.Oracle": "JVM with Kafka's classes",
    "spark-submit": "Spark driver of a test process",
    "ottla.cli.main up": "Ottla broker",
    "ottla.testing.broker_process": "Ottla broker with controls",
    "java ": "another JVM",
    "python": "Python program",
}


class Cost(NamedTuple):
    """Of what ran `times` times; seconds of the test process, and of those that it started."""

    times: int = 0
    own_s: float = 0.0
    started_s: float = 0.0
    wall_s: float = 0.0

    def __add__(self, other: object) -> Cost:
        assert isinstance(other, Cost)
        return Cost(
            self.times + other.times,
            self.own_s + other.own_s,
            self.started_s + other.started_s,
            self.wall_s + other.wall_s,
        )

    @property
    def cpu_s(self) -> float:
        return self.own_s + self.started_s

    @property
    def waiting_s(self) -> float:
        return max(0.0, self.wall_s - self.cpu_s)


def read(folder: Path) -> list[Line]:
    """What all test processes wrote."""
    texts = [path.read_text() for path in sorted(folder.glob("*.jsonl"))]
    return [json.loads(line) for text in texts for line in text.splitlines()]


def costs(lines: Iterable[Line], kind: str, name_of: Callable[[str], str] = str) -> dict[str, Cost]:
    found: dict[str, Cost] = defaultdict(Cost)
    for line in lines:
        if line["kind"] == kind:
            cost = Cost(1, line["cpu_s"], line["started_s"], line["wall_s"])
            found[name_of(line["name"])] += cost
    return found


def folder_of(test_id: str, depth: int) -> str:
    path, _, _ = test_id.partition("::")
    return "/".join(path.split("/")[:-1][:depth])


def table(
    title: str, found: dict[str, Cost], rows: int, order: Callable[[Cost], float]
) -> Iterator[str]:
    yield f"\n{title}\n{'times':>6} {'own s':>8} {'started':>8} {'CPU s':>8} {'waiting':>8}"
    ordered = sorted(found.items(), key=lambda item: order(item[1]), reverse=True)
    for name, cost in [*ordered[:rows], ("all", sum(found.values(), Cost()))]:
        seconds = (cost.own_s, cost.started_s, cost.cpu_s, cost.waiting_s)
        yield f"{cost.times:6} {' '.join(f'{each:8.2f}' for each in seconds)}  {name}"


def program_of(command: Sequence[str]) -> str:
    text = " ".join(command)
    return next((name for words, name in PROGRAMS.items() if words in text), command[0])


def report(lines: list[Line], depth: int, rows: int) -> Iterator[str]:
    tests = costs(lines, "test")
    folders = costs(lines, "test", lambda name: folder_of(name, depth))
    yield from table("Folders", folders, len(folders), lambda cost: cost.cpu_s)
    yield from table("Tests, by CPU time", tests, rows, lambda cost: cost.cpu_s)
    yield from table("Tests, by waiting", tests, rows, lambda cost: cost.waiting_s)
    yield from table("Fixtures", costs(lines, "fixture"), rows, lambda cost: cost.cpu_s)
    yield from table("Collection", costs(lines, "collection"), 0, lambda cost: cost.cpu_s)
    yield "\nPrograms that tests started"
    processes = (line for line in lines if line["kind"] == "process" and line["name"])
    started = Counter(program_of(line["command"]) for line in processes)
    for name, count in started.most_common():
        yield f"{count:6}  {name}"


def main() -> None:
    parser = argparse.ArgumentParser(description="where the time of the last test run went")
    parser.add_argument("--depth", type=int, default=3, help="parts of the path of a folder")
    parser.add_argument("--rows", type=int, default=25, help="of each table of tests")
    parser.add_argument("--folder", type=Path, default=FOLDER, help="where the run was recorded")
    given = parser.parse_args()
    print("\n".join(report(read(given.folder), given.depth, given.rows)))


if __name__ == "__main__":
    main()
