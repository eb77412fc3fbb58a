"""A session of a script with three brokers: which is asked, and where topics and groups are.

Partitions have one replica on the broker that the script names, or several that it names; which
broker coordinates a group or a transactional id follows from its name. So all answers can be
compared, although each implementation places replicas at random unless requests place them.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from tests.compatibility.differential.readiness import GROUP, TRANSACTION
from tests.compatibility.differential.scripting import Run
from tests.compatibility.differential.scripts.configs import SET, TOPIC, change, describe
from tests.compatibility.differential.scripts.list_offsets import question
from tests.compatibility.differential.session import Session, Topic
from tests.compatibility.differential.wire import Connection
from tests.support.waiting import wait_until

from ottla.coordinators.sharding import shard_of
from ottla.protocol.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic

BROKERS = (1, 2, 3)
STOPPED = 3  # the one that is stopped at a script's first `yield`
# Where the partitions of the coordinators' topics are.
COORDINATORS = {GROUP: (1, 2, 3), TRANSACTION: (2, 3, 1)}
WAIT_S = 120.0


class ClusterSession(Session):
    def __init__(self, addresses: Mapping[int, str], run: Run) -> None:
        super().__init__(addresses[1], run)
        self._addresses = addresses
        self._asked = 1
        self._by_broker: dict[tuple[int, str], Connection] = {}
        self.living: Sequence[int] = BROKERS

    def close(self) -> None:
        for connection in self._by_broker.values():
            connection.close()

    @contextmanager
    def at(self, broker_id: int) -> Iterator[None]:
        """Everything inside is asked there; outside, broker 1 is asked."""
        before, self._asked = self._asked, broker_id
        try:
            yield
        finally:
            self._asked = before

    def connection(self, name: str = "") -> Connection:
        known = self._by_broker.get((self._asked, name))
        if known is None or not known.is_open:
            known = Connection(self._addresses[self._asked])
            self._by_broker[self._asked, name] = known
        return known

    def everywhere(self, label: str, request: Any, **more: Any) -> None:
        """Ask all brokers that run, one after another."""
        for broker_id in self.living:
            with self.at(broker_id):
                self.ask(f"{label}, at {broker_id}", request, **more)

    # Names with a place

    def group_on(self, broker_id: int, name: str) -> str:
        """The name of a group with its coordinator there."""
        return self._key_on(broker_id, name, COORDINATORS[GROUP])

    def transaction_on(self, broker_id: int, name: str) -> str:
        return self._key_on(broker_id, name, COORDINATORS[TRANSACTION])

    def _key_on(self, broker_id: int, name: str, brokers: Sequence[int]) -> str:
        keys = (f"{self.name(name)}.{salt}." for salt in itertools.count())
        found = next(key for key in keys if brokers[shard_of(key, len(brokers))] == broker_id)
        self.names.alias(found, f"~{name}")
        return found

    def placed(
        self, name: str, *placed: Sequence[int], configs: Mapping[str, str] | None = None
    ) -> Topic:
        """A new topic with replicas on these brokers, for each partition; all brokers know it."""
        topic = self.create(self.name(name), placed, configs or {})
        self.names.define("id", topic.id, name)
        return topic

    def create(
        self, name: str, placed: Sequence[Sequence[int]], configs: Mapping[str, str]
    ) -> Topic:
        chosen = [CreatableReplicaAssignment(*each) for each in enumerate(placed)]
        settings = [CreatableTopicConfig(*each) for each in configs.items()]
        wanted = CreatableTopic(name, -1, -1, chosen, settings)
        (made,) = self.quietly(CreateTopicsRequest([wanted], 30_000), 7).topics
        assert made.error_code == 0, made
        leaders = [next((each for each in replicas if each in self.living), -1)
                   for replicas in placed]  # fmt: skip
        self.await_topic(name, leaders)
        return Topic(name, made.topic_id)

    def await_topic(self, name: str, leaders: Sequence[int]) -> None:
        """Until all brokers know these leaders, and each leader serves its partitions."""
        request = MetadataRequest([MetadataRequestTopic(bytes(16), name)], False)

        def is_known(answer: Any) -> bool:
            (topic,) = answer.topics
            found = {each.partition_index: each.leader_id for each in topic.partitions}
            return found == dict(enumerate(leaders))

        for broker_id in self.living:
            with self.at(broker_id):
                self.until(request, 9, is_known, f"leaders of {name} at {broker_id}")
        for partition, leader in enumerate(leaders):
            if leader >= 0:
                self.await_leader(name, partition, leader)

    def await_leader(self, name: str, partition: int, leader: int) -> None:
        def is_served(answer: Any) -> bool:
            return bool(answer.topics[0].partitions[0].error_code == 0)

        with self.at(leader):
            self.until(question(name, (partition, -1, -1)), 5, is_served, f"{name} at {leader}")

    def settle(self) -> None:
        """Until all brokers have applied the changes so far: they are applied in order."""
        self._settled += 1
        if self._settled == 1:
            self.placed("settling", [1])
        name, key, value = self.name("settling"), "retention.ms", str(self._settled)
        self.quietly(change((TOPIC, name, [(key, SET, value)])), 1)
        for broker_id in self.living:
            with self.at(broker_id):
                self.until(
                    describe((TOPIC, name, [key])),
                    4,
                    lambda answer: answer.results[0].configs[0].value == value,
                    f"all changes at {broker_id}",
                )

    def await_living(self, living: Sequence[int]) -> None:
        """Wait until the metadata of all of them contains exactly these brokers."""
        self.living = living

        def is_known() -> bool:
            found = [self._living_at(each) for each in living]
            return all(each == set(living) for each in found)

        wait_until(is_known, f"brokers {living}", WAIT_S)

    def _living_at(self, broker_id: int) -> set[int]:
        with self.at(broker_id):
            return {each.node_id for each in self.quietly(MetadataRequest([], False), 9).brokers}
