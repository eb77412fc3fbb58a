"""Clusters for tests of decisions: a state, and what follows when its decisions are carried out."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from random import Random
from typing import TypeVar

from ottla.config.load import PropertiesFile, load_config
from ottla.controller.brokers import decide_register_broker, decide_unfence_broker
from ottla.controller.create_topics import decide_create_topics
from ottla.controller.decision import Decision
from ottla.controller.new_cluster import decide_new_cluster
from ottla.controller.state import ControllerState
from ottla.metadata.entities import PartitionRegistration, Topic
from ottla.metadata.features import SUPPORTED
from ottla.metadata.image import Batch, Image
from ottla.metadata.records import Record
from ottla.protocol.messages.broker_registration_request import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from ottla.protocol.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)

T = TypeVar("T")
CLUSTER_ID = "test-cluster"


class Cluster:
    """Decisions are carried out at once, as if every append worked."""

    def __init__(self, seed: int = 1, properties: bytes = b"") -> None:
        self.random = Random(seed)
        self.loaded = load_config(PropertiesFile("test", properties))
        self.image = Image()
        self.apply(decide_new_cluster(CLUSTER_ID, self.loaded.layers))

    @property
    def state(self) -> ControllerState:
        """For one decision."""
        return ControllerState(
            self.image,
            self.loaded.config.node_id,
            self.loaded.config,
            self.loaded.layers,
            self.random,
            lambda: self.random.randbytes(16),
        )

    def apply(self, records: Iterable[Record]) -> None:
        batch = Batch(self.image.offset, 1, tuple(records))
        if batch.records:
            self.image.apply(batch)

    def carry_out(self, decision: Decision[T]) -> T:
        self.apply(decision.records)
        return decision.answer

    def registration(
        self,
        broker_id: int,
        *,
        rack: str | None = None,
        previous_epoch: int = -1,
        directories: int = 1,
        incarnation: bytes | None = None,
    ) -> BrokerRegistrationRequest:
        return BrokerRegistrationRequest(
            broker_id,
            CLUSTER_ID,
            incarnation or self.random.randbytes(16),
            [Listener("PLAINTEXT", f"host{broker_id}", 9092, 0)],
            [Feature(name, low, high) for name, (low, high) in SUPPORTED.items()],
            rack,
            log_dirs=[directory(broker_id, number) for number in range(directories)],
            previous_broker_epoch=previous_epoch,
        )

    def add_broker(self, broker_id: int, *, rack: str | None = None, directories: int = 1) -> int:
        request = self.registration(broker_id, rack=rack, directories=directories)
        epoch = self.carry_out(decide_register_broker(self.state, request, has_session=False))
        self.carry_out(decide_unfence_broker(self.state, broker_id, epoch))
        return epoch

    def restart_broker(self, broker_id: int, *, is_clean: bool) -> None:
        previous = self.image.brokers[broker_id].epoch if is_clean else -1
        request = self.registration(broker_id, previous_epoch=previous)
        epoch = self.carry_out(decide_register_broker(self.state, request, has_session=False))
        self.carry_out(decide_unfence_broker(self.state, broker_id, epoch))

    def add_topic(
        self, name: str, *replicas: Sequence[int], configs: dict[str, str] | None = None
    ) -> Topic:
        assignments = [CreatableReplicaAssignment(n, ids) for n, ids in enumerate(replicas)]
        settings = [CreatableTopicConfig(*item) for item in (configs or {}).items()]
        topic = CreatableTopic(name, -1, -1, assignments, settings)
        answer = self.carry_out(decide_create_topics(self.state, CreateTopicsRequest([topic])))
        assert answer.topics[0].error_code == 0, answer.topics[0].error_message
        return self.image.topics[name]

    def partition(self, name: str = "t", index: int = 0) -> PartitionRegistration:
        return self.image.topics[name].partitions[index]


def directory(broker_id: int, number: int = 0) -> bytes:
    return bytes([255, broker_id, number]) + bytes(13)


def three_brokers(properties: bytes = b"") -> Cluster:
    cluster = Cluster(properties=properties)
    for broker_id in (1, 2, 3):
        cluster.add_broker(broker_id)
    return cluster
