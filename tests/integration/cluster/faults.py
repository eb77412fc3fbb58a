"""Faults of brokers, of the controller and of the leader of ZooKeeper: killed, paused, cut off.

Each is carried out and ended. Every fault comes once, in random order, before any comes again: a
short run has them all.
"""

from __future__ import annotations

import random
import signal
import time
from collections import Counter
from collections.abc import Callable, Iterable

from tests.chaos.network.rules import Direction, Rule
from tests.integration.cluster.harness import controller_of
from tests.integration.cluster.networked import (
    NetworkedCluster,
    cut_from_brokers,
    cut_from_zookeeper,
    cut_server,
    deaf_to_brokers,
    unheard_by_brokers,
)

BRIEF_S = 0.5


class Faults:
    def __init__(self, cluster: NetworkedCluster, rng: random.Random, long_s: float) -> None:
        """`long_s` is longer than a session: others take over what the victim led."""
        self._cluster = cluster
        self._rng = rng
        self._long_s = long_s
        self._left: list[Callable[[], None]] = []
        self.done: Counter[str] = Counter()

    def one(self) -> None:
        if not self._left:
            self._left = self._all()
            self._rng.shuffle(self._left)
        fault = self._left.pop()
        self.done[fault.__name__] += 1
        fault()

    def _all(self) -> list[Callable[[], None]]:
        return [
            self.broker_killed, self.controller_killed, self.two_killed,
            self.broker_paused, self.controller_paused,
            self.zookeeper_leader_killed, self.zookeeper_leader_paused, self.zookeeper_leader_cut,
            self.broker_cut_from_zookeeper, self.controller_cut_from_zookeeper,
            self.controller_unanswered_by_zookeeper, self.controller_unheard_by_zookeeper,
            self.broker_cut_from_brokers, self.controller_cut_from_brokers,
            self.controller_deaf, self.controller_mute, self.controller_alone, self.all_reset,
        ]  # fmt: skip

    def _broker(self) -> int:
        return self._rng.choice(self._cluster.ids)

    def _controller(self) -> int:
        return controller_of(self._cluster)

    def _hold(self) -> None:
        time.sleep(self._rng.choice([BRIEF_S, self._long_s]))

    # Processes.

    def _kill(self, *chosen: int) -> None:
        for broker_id in chosen:
            self._cluster.kill(broker_id)
        time.sleep(self._rng.random())
        for broker_id in chosen:
            self._cluster.start(broker_id)

    def broker_killed(self) -> None:
        self._kill(self._broker())

    def controller_killed(self) -> None:
        self._kill(self._controller())

    def two_killed(self) -> None:
        self._kill(*self._rng.sample(list(self._cluster.ids), 2))

    def _pause(self, broker_id: int) -> None:
        self._cluster.pause(broker_id)
        self._hold()
        self._cluster.resume(broker_id)

    def broker_paused(self) -> None:
        self._pause(self._broker())

    def controller_paused(self) -> None:
        self._pause(self._controller())

    def zookeeper_leader_killed(self) -> None:
        number = self._cluster.ensemble.leader()
        self._cluster.kill_server(number)
        time.sleep(self._rng.random())
        self._cluster.ensemble.servers[number].start()

    def zookeeper_leader_paused(self) -> None:
        server = self._cluster.ensemble.servers[self._cluster.ensemble.leader()]
        server.signal(signal.SIGSTOP)
        self._hold()
        server.signal(signal.SIGCONT)

    # The network.

    def _cut(self, rules: Iterable[Rule]) -> None:
        self._cluster.cut(rules)
        self._hold()
        self._cluster.network.heal()

    def zookeeper_leader_cut(self) -> None:
        self._cut(cut_server(self._cluster.ensemble.leader()))

    def broker_cut_from_zookeeper(self) -> None:
        self._cut(cut_from_zookeeper(self._broker()))

    def controller_cut_from_zookeeper(self) -> None:
        self._cut(cut_from_zookeeper(self._controller()))

    def controller_unanswered_by_zookeeper(self) -> None:
        """Its writes are applied, and it does not receive the responses."""
        self._cut(cut_from_zookeeper(self._controller(), (Direction.ANSWERS,)))

    def controller_unheard_by_zookeeper(self) -> None:
        self._cut(cut_from_zookeeper(self._controller(), (Direction.REQUESTS,)))

    def broker_cut_from_brokers(self) -> None:
        self._cut(cut_from_brokers(self._broker()))

    def controller_cut_from_brokers(self) -> None:
        self._cut(cut_from_brokers(self._controller()))

    def controller_deaf(self) -> None:
        self._cut(deaf_to_brokers(self._controller()))

    def controller_mute(self) -> None:
        self._cut(unheard_by_brokers(self._controller()))

    def controller_alone(self) -> None:
        broker_id = self._controller()
        self._cut([*cut_from_zookeeper(broker_id), *cut_from_brokers(broker_id)])

    def all_reset(self) -> None:
        """All connections between brokers, and to ZooKeeper, at once."""
        for door in ("brokers-*", "zookeeper-*"):
            self._cluster.network.reset("*", door)
