"""What happened, and when: samples, kills and the books, as the page shows them.

Promises  plain data that goes to JSON and back; times are seconds since the story began.
"""

from __future__ import annotations

import dataclasses
import json
from dataclasses import dataclass, field
from pathlib import Path

from demo.books import Account
from demo.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Sample:
    """Events so far: sent, acknowledged, and done by each query."""

    at_s: float
    sent: int
    acknowledged: int
    done: dict[str, int]


@dataclass(frozen=True, slots=True)
class Kill:
    """A process that was killed with -9 and what came back when, in seconds after that."""

    what: str
    at_s: float
    ready_s: float
    first_s: dict[str, float]  # by query or "events": until the first new one

    @property
    def recovery_s(self) -> float:
        return max(self.first_s.values(), default=self.ready_s)


@dataclass
class Recording:
    scenario: Scenario
    samples: list[Sample] = field(default_factory=list)
    kills: list[Kill] = field(default_factory=list)
    batches: dict[str, list[float]] = field(default_factory=dict)  # when each was done, by query
    spans: dict[str, list[tuple[float, float]]] = field(default_factory=dict)  # alive, by process
    accounts: list[Account] = field(default_factory=list)
    sabotage: str | None = None
    failures: list[str] = field(default_factory=list)  # of queries that were started again

    @property
    def is_balanced(self) -> bool:
        return bool(self.accounts) and all(account.is_balanced for account in self.accounts)


def save(recording: Recording, path: Path) -> None:
    path.write_text(json.dumps(dataclasses.asdict(recording)))


def load(path: Path) -> Recording:
    plain = json.loads(path.read_text())
    return Recording(
        scenario=Scenario(**plain["scenario"]),
        samples=[Sample(**sample) for sample in plain["samples"]],
        kills=[Kill(**kill) for kill in plain["kills"]],
        batches=plain["batches"],
        spans={name: [(a, b) for a, b in spans] for name, spans in plain["spans"].items()},
        accounts=load_accounts(plain["accounts"]),
        sabotage=plain["sabotage"],
        failures=plain["failures"],
    )


def load_accounts(plain: list[dict[str, object]]) -> list[Account]:
    return [Account(**account) for account in plain]  # type: ignore[arg-type]
