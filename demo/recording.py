"""The recording of a run: samples, kills and comparisons, as the page shows them.

Promises  plain data that converts to JSON and back; times are seconds since the start.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from demo.comparison import Comparison
from demo.places import Difference
from demo.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Sample:
    """Events so far: sent, acknowledged, and processed by each query."""

    at_s: float
    sent: int
    acknowledged: int
    done: dict[str, int]


@dataclass(frozen=True, slots=True)
class ReplicaSample:
    """The replicas of the topic of events, by partition."""

    at_s: float
    leaders: dict[int, int]
    in_sync: dict[int, list[int]]
    high_watermarks: dict[int, int]


@dataclass(frozen=True, slots=True)
class Kill:
    """A process that was killed with -9, and its recovery times in seconds."""

    what: str
    at_s: float
    ready_s: float
    first_s: dict[str, float]  # by query or "events": until the first new one

    @property
    def recovery_s(self) -> float:
        return max(self.first_s.values(), default=self.ready_s)


@dataclass(frozen=True, slots=True)
class AuditResult:
    """What the audit says about the lake, and where the checker found something else."""

    is_complete: bool
    buckets: int
    records: int
    faults: int  # buckets
    details: str  # of `ottla audit drill`
    repair: str | None  # the command
    disagreements: list[str]


@dataclass
class Recording:
    scenario: Scenario
    samples: list[Sample] = field(default_factory=list)
    brokers: int = 1
    replicas: list[ReplicaSample] = field(default_factory=list)  # in a cluster
    kills: list[Kill] = field(default_factory=list)
    batches: dict[str, list[float]] = field(default_factory=dict)  # completion times, by query
    spans: dict[str, list[tuple[float, float]]] = field(default_factory=dict)  # uptimes, by process
    comparisons: list[Comparison] = field(default_factory=list)
    audit: AuditResult | None = None
    sabotage: str | None = None
    repair: str | None = None  # the command that was run
    failures: list[str] = field(default_factory=list)  # of restarted queries

    @property
    def is_matching(self) -> bool:
        """For the checker and for the audit."""
        if not self.comparisons or self.audit is None or self.audit.disagreements:
            return False
        is_found = all(comparison.is_matching for comparison in self.comparisons)
        return is_found and self.audit.is_complete


def save(recording: Recording, path: Path) -> None:
    path.write_text(json.dumps(dataclasses.asdict(recording)))


def load(path: Path) -> Recording:
    plain = json.loads(path.read_text())
    return Recording(
        scenario=Scenario(**plain["scenario"]),
        samples=[Sample(**sample) for sample in plain["samples"]],
        brokers=plain["brokers"],
        replicas=[load_replicas(**sample) for sample in plain["replicas"]],
        kills=[Kill(**kill) for kill in plain["kills"]],
        batches=plain["batches"],
        spans={name: [(a, b) for a, b in spans] for name, spans in plain["spans"].items()},
        comparisons=load_comparisons(plain["comparisons"]),
        audit=AuditResult(**plain["audit"]) if plain["audit"] else None,
        sabotage=plain["sabotage"],
        repair=plain["repair"],
        failures=plain["failures"],
    )


def load_replicas(at_s: float, **by_partition: dict[str, Any]) -> ReplicaSample:
    """JSON has no integers as keys."""
    fields = {
        name: {int(index): value for index, value in values.items()}
        for name, values in by_partition.items()
    }
    return ReplicaSample(at_s, **fields)


def load_comparisons(plain: list[dict[str, Any]]) -> list[Comparison]:
    return [load_comparison(**comparison) for comparison in plain]


def load_comparison(differences: list[dict[str, Any]], **fields: Any) -> Comparison:
    return Comparison(**fields, differences=[Difference(**each) for each in differences])
