"""What faults are given, and what they leave behind."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.chaos.clients.processes import ClientProcess
from tests.chaos.cluster.cluster import ChaosCluster
from tests.chaos.cluster.topics import controller_of, states
from tests.chaos.network.rules import Rule


class Event(NamedTuple):
    kind: str
    text: str
    start_s: float
    end_s: float

    def __str__(self) -> str:
        return f"{self.start_s:.3f} to {self.end_s:.3f} {self.kind}: {self.text}"


@dataclass
class FaultContext:
    cluster: ChaosCluster
    clients: list[ClientProcess]
    rng: random.Random
    hold_s: tuple[float, float] = (3.0, 12.0)  # how long a pause or a cut lasts
    topics: tuple[str, ...] = ()
    events: list[Event] = field(default_factory=list)
    stopping: threading.Event = field(default_factory=threading.Event)

    def hold(self) -> float:
        """Let the fault last; for how long."""
        seconds = self.rng.uniform(*self.hold_s)
        time.sleep(seconds)
        return seconds

    def pick(self, role: str) -> int:
        """A broker that has this role now; any other one if there is none."""
        running = self.cluster.running()
        controller = controller_of(self.cluster)
        if role == "controller" and controller in running:
            return controller
        if role in ("leader", "follower"):
            leaders = self._leaders()
            found = (
                leaders if role == "leader" else [each for each in running if each != controller]
            )
            if found := [each for each in found if each in running]:
                return self.rng.choice(found)
        return self.rng.choice(running)

    def _leaders(self) -> list[int]:
        """Of the partitions of the workload, once for each."""
        try:
            found = states(self.cluster, self.cluster.running()[0], *self.topics)
        except OSError:
            return []
        return [each.leader for each in found]

    def members(self) -> list[ClientProcess]:
        """Clients that read in groups."""
        return [each for each in self.clients if each.task.group.endswith("readers")]

    def static_members(self) -> list[ClientProcess]:
        return [each for each in self.clients if each.task.role == "static-group"]

    def transactional(self) -> list[ClientProcess]:
        """Clients with a transactional id."""
        return [
            each for each in self.clients if each.task.role in ("write", "python-write", "copy")
        ]

    def others(self, broker_id: int) -> list[int]:
        return [each for each in self.cluster.ids if each != broker_id]

    def cut(self, rules: Iterable[Rule]) -> float:
        """Hold the bytes of these links for a while; for how long."""
        self.cluster.network.apply(rules)
        try:
            return self.hold()
        finally:
            self.cluster.network.heal()


Fault = Callable[[FaultContext], str]  # carries it out and ends it; says what it did
