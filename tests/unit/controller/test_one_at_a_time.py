"""A request with several items does what as many requests with one item each do.

In any cluster, near any limit, and with any permissions: the answer to an item of a request, and
its effect, depend on the items before it as they would on earlier requests.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from copy import copy
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.controller.clusters import Cluster
from tests.unit.controller.test_random_operations import BROKERS, OPERATIONS, TOPICS

from ottla.controller.alter_configs import decide_alter_configs, decide_incremental_alter_configs
from ottla.controller.alter_quotas import decide_alter_client_quotas
from ottla.controller.create_partitions import decide_create_partitions
from ottla.controller.create_topics import decide_create_topics
from ottla.controller.decision import Decision
from ottla.controller.delete_topics import decide_delete_topics
from ottla.controller.elect_leaders import decide_elect_leaders
from ottla.controller.reassignment import decide_alter_partition_reassignments
from ottla.controller.state import ControllerState
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages import alter_client_quotas_request as quotas
from ottla.protocol.messages import alter_configs_request as legacy
from ottla.protocol.messages import incremental_alter_configs_request as incremental
from ottla.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.protocol.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions

NEW_TOPICS = ("e", "f.g", "f_g", "bad name", "h", "secret")
SETTINGS = (
    ("retention.ms", "5"),
    ("retention.ms", "-2"),
    ("min.insync.replicas", "2"),
    ("cleanup.policy", "compact"),
    ("no.such.setting", "1"),
)


class Quota:
    """Of changes: so many partitions may be made or deleted."""

    def __init__(self, left: int) -> None:
        self.left = left

    def charge(self, partitions: int) -> None:
        if partitions > self.left:
            raise BrokerError(ErrorCode.THROTTLING_QUOTA_EXCEEDED)
        self.left -= partitions


def is_public(name: str) -> bool:
    return name not in ("secret", "d")


class Kind:
    """A kind of request: items, and the answers to a request with some of them."""

    def __init__(self, rng: Random) -> None:
        self.quota = Quota(rng.choice((3, 1000)))

    def items(self, rng: Random, cluster: Cluster) -> list[Any]:
        raise NotImplementedError

    def decide(
        self, state: ControllerState, items: Sequence[Any]
    ) -> tuple[Decision[Any], Sequence[Any]]:
        raise NotImplementedError


class CreateTopics(Kind):
    def items(self, rng: Random, cluster: Cluster) -> list[CreatableTopic]:
        names = rng.sample((*NEW_TOPICS, *TOPICS), 5)
        return [self.item(rng, name) for name in names]

    def item(self, rng: Random, name: str) -> CreatableTopic:
        configs = [CreatableTopicConfig(*each) for each in some(rng, SETTINGS, 0.2)]
        if rng.random() < 0.6:
            partitions, factor = rng.choice((-1, 0, 1, 2, 3)), rng.choice((-1, 1, 2, 6))
            return CreatableTopic(name, partitions, factor, configs=configs)
        count = rng.choice((-1, -1, -1, 2))
        chosen = [
            CreatableReplicaAssignment(index, rng.choices(BROKERS, k=rng.choice((1, 2))))
            for index in rng.choice(([0], [0, 1], [0, 2], [1, 0], [0, 0]))
        ]
        return CreatableTopic(name, count, -1, chosen, configs)

    def decide(
        self, state: ControllerState, items: Sequence[Any]
    ) -> tuple[Decision[Any], Sequence[Any]]:
        decision = decide_create_topics(
            state,
            CreateTopicsRequest(items),
            may_create=is_public,
            may_describe_configs=lambda name: name != "e",
            charge=self.quota.charge,
        )
        return decision, decision.answer.topics


class CreatePartitions(Kind):
    def items(self, rng: Random, cluster: Cluster) -> list[CreatePartitionsTopic]:
        found = []
        for name in rng.sample((*TOPICS, "nobody"), 4):
            count = rng.randrange(1, 7)
            chosen = [
                CreatePartitionsAssignment(rng.choices(BROKERS, k=rng.choice((1, 2))))
                for _ in range(rng.randrange(3))
            ]
            asked = chosen if rng.random() < 0.4 else None
            found.append(CreatePartitionsTopic(name, count, asked))
        return found

    def decide(
        self, state: ControllerState, items: Sequence[Any]
    ) -> tuple[Decision[Any], Sequence[Any]]:
        decision = decide_create_partitions(
            state, CreatePartitionsRequest(items), may_alter=is_public, charge=self.quota.charge
        )
        return decision, decision.answer.results


class DeleteTopics(Kind):
    def items(self, rng: Random, cluster: Cluster) -> list[DeleteTopicState]:
        found = []
        for name in rng.sample((*TOPICS, "nobody"), 4):
            topic = cluster.image.topic(name)
            is_by_id = topic is not None and rng.random() < 0.4
            found.append(
                DeleteTopicState(None, topic.id)
                if topic is not None and is_by_id
                else DeleteTopicState(name)
            )
        return found

    def decide(
        self, state: ControllerState, items: Sequence[Any]
    ) -> tuple[Decision[Any], Sequence[Any]]:
        decision = decide_delete_topics(
            state,
            DeleteTopicsRequest(items),
            6,
            may_describe=lambda name: name != "b.c",
            may_delete=is_public,
            charge=self.quota.charge,
        )
        return decision, decision.answer.responses


def resources(rng: Random) -> Iterator[tuple[int, str, list[tuple[str, str]]]]:
    """Distinct ones of all kinds, with settings that fit mostly."""
    kinds = [(2, name) for name in (*TOPICS, "")] + [(4, ""), (4, "1"), (4, "2"), (9, "x")]
    kinds += [(kind, name) for kind in (16, 32) for name in ("p", "q", "r", "")]
    for kind, name in rng.sample(kinds, 6):
        of_group = [("consumer.session.timeout.ms", rng.choice(("50000", "45001", "x")))]
        of_metrics = [("metrics", "a.b"), ("interval.ms", rng.choice(("100", "99")))]
        known = {16: of_metrics, 32: of_group}.get(kind, list(SETTINGS))
        yield kind, name, some(rng, known, 0.4)


class IncrementalConfigs(Kind):
    def items(self, rng: Random, cluster: Cluster) -> list[incremental.AlterConfigsResource]:
        return [
            incremental.AlterConfigsResource(
                kind,
                name,
                [
                    incremental.AlterableConfig(key, rng.choice((0, 0, 0, 1, 2, 3, 4)), value)
                    for key, value in settings
                ],
            )
            for kind, name, settings in resources(rng)
        ]

    def decide(
        self, state: ControllerState, items: Sequence[Any]
    ) -> tuple[Decision[Any], Sequence[Any]]:
        request = incremental.IncrementalAlterConfigsRequest(items)
        decision = decide_incremental_alter_configs(
            state, request, 1, may_alter=lambda resource: is_public(resource.name)
        )
        return decision, decision.answer.responses


class LegacyConfigs(Kind):
    def items(self, rng: Random, cluster: Cluster) -> list[legacy.AlterConfigsResource]:
        return [
            legacy.AlterConfigsResource(
                kind, name, [legacy.AlterableConfig(key, value) for key, value in settings]
            )
            for kind, name, settings in resources(rng)
        ]

    def decide(
        self, state: ControllerState, items: Sequence[Any]
    ) -> tuple[Decision[Any], Sequence[Any]]:
        decision = decide_alter_configs(
            state,
            legacy.AlterConfigsRequest(items),
            1,
            may_alter=lambda resource: is_public(resource.name),
        )
        return decision, decision.answer.responses


class Quotas(Kind):
    def items(self, rng: Random, cluster: Cluster) -> list[quotas.EntryData]:
        users = rng.sample(("u", "v", "w", "", "d", None), 5)
        return [
            quotas.EntryData(
                [quotas.EntityData("user", user)],
                [
                    quotas.OpData(key, rng.choice((1.0, 1.5, 0.0)), rng.random() < 0.3)
                    for key in rng.sample(("producer_byte_rate", "request_percentage", "no"), 2)
                ],
            )
            for user in users
        ]

    def decide(
        self, state: ControllerState, items: Sequence[Any]
    ) -> tuple[Decision[Any], Sequence[Any]]:
        decision = decide_alter_client_quotas(state, quotas.AlterClientQuotasRequest(items))
        return decision, decision.answer.entries


class ElectLeaders(Kind):
    def items(self, rng: Random, cluster: Cluster) -> list[tuple[str, int]]:
        self.type = rng.randrange(2)
        places = [(topic.name, index) for topic, index, _ in cluster.image.all_partitions()]
        return rng.sample([*places, ("nobody", 0)], min(5, len(places) + 1))

    def decide(
        self, state: ControllerState, items: Sequence[Any]
    ) -> tuple[Decision[Any], Sequence[Any]]:
        named = [TopicPartitions(name, [index]) for name, index in items]
        decision = decide_elect_leaders(state, ElectLeadersRequest(self.type, named))
        return decision, decision.answer.replica_election_results


class Reassign(Kind):
    def items(self, rng: Random, cluster: Cluster) -> list[ReassignableTopic]:
        self.may_change_factor = rng.random() < 0.5
        places = [(topic.name, index) for topic, index, _ in cluster.image.all_partitions()]
        return [
            ReassignableTopic(
                name,
                [ReassignablePartition(index, rng.choice((None, rng.choices(BROKERS, k=2), [])))],
            )
            for name, index in rng.sample([*places, ("nobody", 0)], min(5, len(places) + 1))
        ]

    def decide(
        self, state: ControllerState, items: Sequence[Any]
    ) -> tuple[Decision[Any], Sequence[Any]]:
        request = AlterPartitionReassignmentsRequest(
            allow_replication_factor_change=self.may_change_factor, topics=items
        )
        decision = decide_alter_partition_reassignments(state, request)
        return decision, decision.answer.responses


KINDS: list[Callable[[Random], Kind]] = [
    CreateTopics,
    CreatePartitions,
    DeleteTopics,
    IncrementalConfigs,
    LegacyConfigs,
    Quotas,
    ElectLeaders,
    Reassign,
]


def some(rng: Random, choices: Sequence[Any], share: float) -> list[Any]:
    """Some of them, each name once."""
    return list({each[0]: each for each in choices if rng.random() < share}.values())


def random_cluster(rng: Random, seed: int) -> Cluster:
    cluster = Cluster(seed)
    for broker_id in (1, 2, 3):
        cluster.add_broker(broker_id)
    for _ in range(12):
        rng.choice(OPERATIONS)(rng, cluster)
    near = rng.choice((1, 3, 1000))
    config = replace(
        cluster.loaded.config,
        ottla_partitions_max=cluster.image.partition_count + near,
        ottla_config_bytes_max=cluster.image.config_bytes + 40 * near,
        ottla_quota_entities_max=near,
        ottla_client_metrics_subscriptions_max=near,
    )
    cluster.loaded = replace(cluster.loaded, config=config)
    return cluster


def twin(cluster: Cluster) -> Cluster:
    other = copy(cluster)
    other.image = cluster.image.copy()
    other.random = Random()
    other.random.setstate(cluster.random.getstate())
    return other


@pytest.mark.parametrize("make_kind", KINDS, ids=lambda kind: kind.__name__)
@settings(max_examples=25, deadline=None)
@given(seed=st.integers(0, 2**32))
def test_items_of_one_request_are_decided_as_if_each_came_alone(
    make_kind: Callable[[Random], Kind], seed: int
) -> None:
    rng = Random(seed)
    together = random_cluster(rng, seed)
    alone = twin(together)
    kind = make_kind(rng)
    items, left = kind.items(rng, together), kind.quota.left
    decision, answers = kind.decide(together.state, items)
    together.carry_out(decision)
    kind.quota.left = left
    expected: list[Any] = []
    for item in items:
        decision, answer = kind.decide(alone.state, [item])
        alone.carry_out(decision)
        expected += answer
    if make_kind is DeleteTopics:  # answered in another order: names come first
        answers, expected = (sorted(each, key=repr) for each in (answers, expected))
    assert list(answers) == expected
    assert contents(together) == contents(alone)


def contents(cluster: Cluster) -> tuple[object, ...]:
    image = cluster.image
    return image.topics, image.configs, image.quotas, image.brokers, image.partition_count
