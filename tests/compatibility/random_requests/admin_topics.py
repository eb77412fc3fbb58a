"""Steps that create, delete, extend and describe topics; and a few records in them."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import NamedTuple

from tests.compatibility.differential.batches import batch
from tests.compatibility.differential.scripts.metadata import BAD_NAMES
from tests.compatibility.random_requests.admin_model import AdminModel, Ref
from tests.compatibility.random_requests.admin_values import draw_value, settings_of

from ottla.protocol.api_keys import APIS, ApiKey
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
from ottla.protocol.messages.describe_topic_partitions_request import (
    Cursor,
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)

TIMEOUT_MS = 30_000
TOPICS = ("~a", "~b", "~c", "~d")
NAME_MAX = 249  # such a name can be, and would be there in the next sequence, too
OTHERS = ("~a.b", "~a_b", "~A", "~none", *(each for each in BAD_NAMES if len(each) != NAME_MAX))
COLLIDING = {"~a.b", "~a_b"}
BY_ID_FROM, BY_STATE_FROM = 10, 6  # versions of Metadata and DeleteTopics
CREATES_BEFORE = 4  # versions of Metadata that always create topics
UNKNOWN_TOPIC = 3
Brokers = tuple[int, ...]


def draw_version(random: Random, key: ApiKey) -> int:
    return random.choice(APIS[key].stable_versions)


def draw_name(random: Random, others: float = 0.12) -> str:
    return random.choice(OTHERS if random.random() < others else TOPICS)


def draw_names(random: Random, others: float = 0.12) -> tuple[str, ...]:
    """Mostly one; not two that collide: Kafka makes both."""
    names = [draw_name(random, others) for _ in range(random.choice((1, 1, 1, 1, 2, 2, 3, 0)))]
    return tuple(names) if not set(names) >= COLLIDING else ("~a.b",)


def draw_brokers(random: Random) -> Brokers:
    return (1,) if random.random() < 0.7 else random.choice(((), (2,), (1, 1), (1, 2), (-1,), (0,)))


class NewTopic(NamedTuple):
    name: str
    partitions: int
    replicas: int
    assigned: tuple[tuple[int, Brokers], ...] = ()
    settings: tuple[tuple[str, str | None], ...] = ()


class Create(NamedTuple):
    version: int
    topics: tuple[NewTopic, ...]
    dry: bool

    def execute(self, model: AdminModel) -> None:
        model.changes()
        topics = [
            CreatableTopic(
                model.name(each.name),
                each.partitions,
                each.replicas,
                [CreatableReplicaAssignment(*one) for one in each.assigned],
                [CreatableTopicConfig(*one) for one in each.settings],
            )
            for each in self.topics
        ]
        model.ask(CreateTopicsRequest(topics, TIMEOUT_MS, self.dry), self.version)


def draw_create(random: Random) -> Create:
    version = draw_version(random, ApiKey.CREATE_TOPICS)
    topics = tuple(draw_new_topic(random, name) for name in draw_names(random))
    return Create(version, topics, random.random() < 0.15)


def draw_new_topic(random: Random, name: str) -> NewTopic:
    partitions = (
        random.choice((1, 1, 2, 3, 4, -1)) if random.random() < 0.85 else draw_wrong(random)
    )
    replicas = random.choice((1, 1, 1, -1)) if random.random() < 0.9 else draw_wrong(random)
    assigned: list[tuple[int, Brokers]] = []
    if random.random() < 0.2:
        count = random.choice((1, 1, 2, 3))
        assigned = [(index, draw_brokers(random)) for index in range(count)]
        if random.random() < 0.2:
            assigned[-1] = (random.choice((-1, 0, 1, 7)), (1,))
        random.shuffle(assigned)
        if random.random() < 0.8:
            partitions = replicas = -1
    return NewTopic(name, partitions, replicas, tuple(assigned), draw_topic_settings(random))


def draw_wrong(random: Random) -> int:
    return random.choice((0, -2, 2, 3, 32_767, -32_768))


def draw_topic_settings(random: Random) -> tuple[tuple[str, str | None], ...]:
    count = random.choice((0, 0, 0, 1, 1, 2, 3))
    chosen = [random.choice(settings_of("topic")) for _ in range(count)]
    return tuple((each.name, draw_value(random, each)) for each in chosen)


class Delete(NamedTuple):
    version: int
    names: tuple[str, ...]
    ids: tuple[Ref, ...] = ()  # from version 6 on
    named_ids: tuple[tuple[str, Ref], ...] = ()

    def execute(self, model: AdminModel) -> None:
        model.changes()
        names = [model.name(each) for each in self.names]
        states = [DeleteTopicState(name, bytes(16)) for name in names]
        states += [DeleteTopicState(None, model.topic_id(each)) for each in self.ids]
        states += [
            DeleteTopicState(model.name(n), model.topic_id(each)) for n, each in self.named_ids
        ]
        if self.version >= BY_STATE_FROM:
            request = DeleteTopicsRequest(states, (), TIMEOUT_MS)
        else:
            request = DeleteTopicsRequest((), names, TIMEOUT_MS)
        model.ask(request, self.version)


def draw_ref(random: Random) -> Ref:
    which = random.choices(("now", "before", "unknown", "zero"), (8, 2, 1, 1))[0]
    return random.choice(TOPICS), which


def draw_refs(random: Random) -> tuple[Ref, ...]:
    return tuple(draw_ref(random) for _ in range(random.choice((0, 1, 1, 2))))


def draw_delete(random: Random) -> Delete:
    version = draw_version(random, ApiKey.DELETE_TOPICS)
    names = draw_names(random)
    if version < BY_STATE_FROM or random.random() < 0.4:
        return Delete(version, names)
    refs = draw_refs(random)
    if [each for _, each in refs].count("zero") > 1:
        refs = refs[:1]
    kept = names if random.random() < 0.3 else ()
    named = ((draw_name(random), draw_ref(random)),) if random.random() < 0.1 else ()
    return Delete(version, kept, refs, named)


class Grow(NamedTuple):
    version: int
    topics: tuple[tuple[str, int, tuple[Brokers, ...] | None], ...]
    dry: bool

    def execute(self, model: AdminModel) -> None:
        model.changes()
        topics = [
            CreatePartitionsTopic(
                model.name(name),
                count,
                None
                if assigned is None
                else [CreatePartitionsAssignment(brokers) for brokers in assigned],
            )
            for name, count, assigned in self.topics
        ]
        model.ask(CreatePartitionsRequest(topics, TIMEOUT_MS, self.dry), self.version)


def draw_grow(random: Random) -> Grow:
    topics = []
    for name in draw_names(random):
        count = random.choice((1, 2, 3, 4, 5, 6, 6, 7, 8, 0, -1))
        assigned = None
        if random.random() < 0.3:
            assigned = tuple(draw_brokers(random) for _ in range(random.choice((0, 1, 1, 2, 3))))
        topics.append((name, count, assigned))
    version = draw_version(random, ApiKey.CREATE_PARTITIONS)
    return Grow(version, tuple(topics), random.random() < 0.2)


class AskMetadata(NamedTuple):
    """Metadata. All topics if `names` is None."""

    version: int
    names: tuple[str, ...] | None
    ids: tuple[Ref, ...] = ()
    creates: bool = False
    operations: tuple[bool, bool] = (False, False)

    def execute(self, model: AdminModel) -> None:
        topics = None if self.names is None else self._topics(model)
        request = MetadataRequest(topics, self.creates, *self.operations)
        if self.creates and self.names:
            # Kafka makes them after its answer, we before.
            model.session.quietly(request, self.version)
            self._await_creation(model)
            model.settle()
        is_all = self.names is None or (self.version == 0 and not self.names)
        shown = model.only_own("topics", lambda each: each.name) if is_all else None
        model.ask(request, self.version, shown=shown)

    def _topics(self, model: AdminModel) -> list[MetadataRequestTopic]:
        named = [MetadataRequestTopic(bytes(16), model.name(each)) for each in self.names or ()]
        return named + [MetadataRequestTopic(model.topic_id(each), None) for each in self.ids]

    def _await_creation(self, model: AdminModel) -> None:
        own = [
            MetadataRequestTopic(bytes(16), model.name(e)) for e in self.names or () if e in TOPICS
        ]
        model.session.until(
            MetadataRequest(own, False),
            9,
            lambda answer: all(each.error_code != UNKNOWN_TOPIC for each in answer.topics),
            "creation",
        )


def draw_metadata(random: Random) -> AskMetadata:
    version = draw_version(random, ApiKey.METADATA)
    creates = version < CREATES_BEFORE or random.random() < 0.2
    flags = (random.random() < 0.2, random.random() < 0.2)
    if version not in range(8, 11):
        flags = (False, flags[1] and version >= 8)
    if random.random() < 0.2:
        return AskMetadata(version, None, (), creates, flags)
    refs = draw_refs(random) if version >= BY_ID_FROM and random.random() < 0.6 else ()
    refs = tuple(each for each in refs if each[1] != "zero")
    others = 0.0 if creates else 0.15
    names = draw_names(random, others) if not refs or random.random() < 0.3 else ()
    return AskMetadata(version, names, refs, creates and not refs, flags)


class AskPartitions(NamedTuple):
    names: tuple[str, ...]
    limit: int
    cursor: tuple[str, int] | None

    def execute(self, model: AdminModel) -> None:
        topics = [TopicRequest(model.name(each)) for each in self.names]
        cursor = self.cursor and Cursor(model.name(self.cursor[0]), self.cursor[1])
        shown = None if self.names else model.only_own("topics", lambda each: each.name)
        model.ask(DescribeTopicPartitionsRequest(topics, self.limit, cursor), 0, shown=shown)


def draw_ask_partitions(random: Random) -> AskPartitions:
    cursor = None
    if random.random() < 0.5:
        cursor = (draw_name(random), random.choice((0, 0, 1, 2, 3, 7, -1)))
    limit = random.choice((2000, 2000, 1, 2, 3, 4, 5, 8, 0, -1, 2001))
    names = tuple(name for name in draw_names(random) if name)
    return AskPartitions(names or TOPICS, limit, cursor)


class Append(NamedTuple):
    topic: str
    partition: int
    records_count: int

    def execute(self, model: AdminModel) -> None:
        records = batch(*(b"x" * 10 for _ in range(self.records_count)))
        data = TopicProduceData(
            model.name(self.topic), b"", [PartitionProduceData(self.partition, records)]
        )
        model.ask(ProduceRequest(None, -1, TIMEOUT_MS, [data]), 9)


def draw_append(random: Random) -> Append:
    return Append(random.choice(TOPICS), random.choice((0, 0, 1, 2)), random.choice((1, 2, 5)))


DRAWN: dict[Callable[[Random], object], int] = {
    draw_create: 14, draw_delete: 8, draw_grow: 8, draw_metadata: 10, draw_ask_partitions: 5,
    draw_append: 4,
}  # fmt: skip
