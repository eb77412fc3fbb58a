"""The arguments of faults, and their results."""

from __future__ import annotations

import random
import threading
import time
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from tests.chaos.clients.processes import ClientProcess
from tests.chaos.cluster.cluster import ChaosCluster
from tests.chaos.cluster.settings import LAG_S
from tests.chaos.cluster.topics import controller_of, states
from tests.chaos.network.rules import Rule

LEAVES_S = LAG_S + 5.0  # what a cut broker may take to leave the in-sync replicas


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

    def cut(self, rules: Iterable[Rule], leaving: int | None = None) -> float:
        """Hold the bytes of these links for a while; for how long. AssertionError if it is long,
        and a broker that it cuts off is still in sync where others lead."""
        seconds = self.rng.uniform(*self.hold_s)
        left_s = 0.0 if leaving is None or seconds <= LEAVES_S else seconds - LEAVES_S
        self.cluster.network.apply(rules)
        try:
            time.sleep(seconds - left_s)
            if leaving is not None and left_s:
                self.check_left(leaving)
            time.sleep(left_s)
        finally:
            self.cluster.network.heal()
        return seconds

    def check_left(self, broker_id: int) -> None:
        """Of the first topic, which is written to all the time: only then is a replica behind."""
        asked = self.others(broker_id)[0]
        stayed = [
            each
            for each in states(self.cluster, asked, self.topics[0])
            if each.leader != broker_id and broker_id in each.in_sync
        ]
        assert not stayed, f"broker {broker_id} is cut off for {LEAVES_S:.0f} s, and in {stayed}"

    def unless_controller(self, broker_id: int) -> int | None:
        """Leaders that cannot reach the controller cannot have a follower removed."""
        return None if controller_of(self.cluster) == broker_id else broker_id


Fault = Callable[[FaultContext], str]  # carries it out and ends it; describes it
