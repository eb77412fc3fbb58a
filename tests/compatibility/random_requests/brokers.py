"""Random requests to three brokers: each is sent to one of them, whether it is the leader or not.

    python -m tests.compatibility.random_requests brokers --seed 7 --sequences 200

Topics have the replicas that a step names. Records are written to partitions with one replica only,
and reassignments add none on a broker that runs: how fast records are copied is not compared.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from random import Random
from typing import Any, NamedTuple

from tests.compatibility.differential.batches import batch
from tests.compatibility.differential.cluster_scripts.cluster_metadata import any_controller
from tests.compatibility.differential.cluster_scripts.cluster_moves import move, moving
from tests.compatibility.differential.cluster_scripts.cluster_settings import one_directory
from tests.compatibility.differential.cluster_session import BROKERS, ClusterSession
from tests.compatibility.differential.scripts import list_offsets
from tests.compatibility.differential.scripts.group_offsets import commit, fetch
from tests.compatibility.differential.scripts.metadata import UNKNOWN_ID, named
from tests.compatibility.differential.scripts.produce import produce
from tests.compatibility.differential.scripts.topics import assigned, without_defaults
from tests.compatibility.differential.session import Topic
from tests.compatibility.random_requests.admin_model import without_words
from tests.compatibility.random_requests.admin_topics import draw_version
from tests.compatibility.random_requests.request_sequence import Area
from tests.compatibility.random_requests.step_client import StepClient

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.message import Message
from ottla.protocol.messages.create_partitions_request import (
    CreatePartitionsAssignment,
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.protocol.messages.create_topics_request import CreateTopicsRequest
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest
from ottla.protocol.messages.describe_log_dirs_request import (
    DescribableLogDirTopic,
    DescribeLogDirsRequest,
)
from ottla.protocol.messages.describe_topic_partitions_request import (
    DescribeTopicPartitionsRequest,
    TopicRequest,
)
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.unregister_broker_request import UnregisterBrokerRequest

TOPICS = ("a", "b", "c", "none")
TIMEOUT_MS = 30_000
Replicas = tuple[int, ...]


class BrokersModel:
    def __init__(self, client: StepClient) -> None:
        assert isinstance(client.session, ClusterSession)
        self.client = client
        self.session: ClusterSession = client.session
        self._has_changed = False

    def ask(self, at: int, request: Message, version: int, shown: Any = None) -> Any:
        def wordless(answer: Any) -> Any:
            return without_words(answer if shown is None else shown(answer))

        with self.session.at(at):
            return self.client.ask(request, version, shown=wordless)

    def changes(self) -> None:
        self._has_changed = True

    def after_step(self) -> None:
        """Until all brokers have applied it: what came before the first of two later changes."""
        if self._has_changed:
            self._has_changed = False
            self.session.settle()
            self.session.settle()

    def topic(self, name: str) -> Topic:
        found = self.session.quietly(named(self.session.name(name)), 12).topics[0]
        return Topic(self.session.name(name), UNKNOWN_ID if found.error_code else found.topic_id)

    def replicas(self, name: str) -> dict[int, Replicas]:
        found = self.session.quietly(named(self.session.name(name)), 12).topics[0]
        return {each.partition_index: tuple(each.replica_nodes) for each in found.partitions}

    def has_one_replica(self, name: str) -> bool:
        return all(len(each) == 1 for each in self.replicas(name).values())


class Create(NamedTuple):
    at: int
    version: int
    name: str
    placed: tuple[Replicas, ...]
    dry: bool

    def execute(self, model: BrokersModel) -> None:
        model.changes()
        topic = assigned(model.session.name(self.name), *enumerate(self.placed))
        request = CreateTopicsRequest([topic], TIMEOUT_MS, self.dry)
        model.ask(self.at, request, self.version, without_defaults)


def draw_replicas(random: Random, count: int) -> Replicas:
    if random.random() < 0.08:
        return random.choice(((4,), (1, 4), (1, 1), (), (-1,), (0,), (2, 3, 4)))
    return tuple(random.sample(BROKERS, count))


def draw_create(random: Random) -> Create:
    version = draw_version(random, ApiKey.CREATE_TOPICS)
    count = random.choice((1, 1, 1, 2, 3))
    placed = tuple(draw_replicas(random, count) for _ in range(random.choice((1, 2, 3, 3))))
    return Create(at(random), version, topic(random), placed, random.random() < 0.1)


class Grow(NamedTuple):
    at: int
    version: int
    name: str
    wanted: int
    placed: tuple[Replicas, ...]

    def execute(self, model: BrokersModel) -> None:
        model.changes()
        chosen = [CreatePartitionsAssignment(each) for each in self.placed]
        wanted = CreatePartitionsTopic(model.session.name(self.name), self.wanted, chosen)
        model.ask(self.at, CreatePartitionsRequest([wanted], TIMEOUT_MS), self.version)


def draw_grow(random: Random) -> Grow:
    version = draw_version(random, ApiKey.CREATE_PARTITIONS)
    count = random.choice((1, 1, 2))
    placed = tuple(draw_replicas(random, count) for _ in range(random.choice((1, 1, 2))))
    return Grow(at(random), version, topic(random), random.choice((2, 3, 4, 5)), placed)


class Delete(NamedTuple):
    at: int
    name: str

    def execute(self, model: BrokersModel) -> None:
        model.changes()
        request = DeleteTopicsRequest((), [model.session.name(self.name)], TIMEOUT_MS)
        model.ask(self.at, request, 5)


class AskMetadata(NamedTuple):
    at: int
    version: int
    name: str

    def execute(self, model: BrokersModel) -> None:
        request = named(model.session.name(self.name))
        model.ask(self.at, request, self.version, any_controller)


class Describe(NamedTuple):
    at: int
    names: tuple[str, ...]

    def execute(self, model: BrokersModel) -> None:
        topics = [TopicRequest(model.session.name(each)) for each in self.names]
        model.ask(self.at, DescribeTopicPartitionsRequest(topics, 2000, None), 0)


class Reassign(NamedTuple):
    at: int
    version: int
    name: str
    partition: int
    wanted: Replicas | None
    may_change_count: bool

    def execute(self, model: BrokersModel) -> None:
        now = model.replicas(self.name).get(self.partition, ())
        if set(self.wanted or ()) & set(BROKERS) - set(now):
            return  # would be copied
        model.changes()
        change = (self.partition, self.wanted)
        request = move(
            model.session.name(self.name), change, may_change_count=self.may_change_count
        )
        model.ask(self.at, request, self.version)


def draw_reassign(random: Random) -> Reassign:
    version = draw_version(random, ApiKey.ALTER_PARTITION_REASSIGNMENTS)
    wanted = draw_replicas(random, random.choice((1, 2, 3))) if random.random() < 0.85 else None
    may_change_count = version == 0 or random.random() < 0.6
    return Reassign(
        at(random), version, topic(random), random.randrange(4), wanted, may_change_count
    )


class Moving(NamedTuple):
    at: int
    name: str

    def execute(self, model: BrokersModel) -> None:
        model.ask(self.at, moving(model.session.name(self.name), 0, 1, 2, 3), 0)


class Elect(NamedTuple):
    at: int
    version: int
    kind: int
    name: str
    partitions: tuple[int, ...]

    def execute(self, model: BrokersModel) -> None:
        model.changes()
        asked = [TopicPartitions(model.session.name(self.name), self.partitions)]
        model.ask(self.at, ElectLeadersRequest(self.kind, asked, TIMEOUT_MS), self.version)


def draw_elect(random: Random) -> Elect:
    version = draw_version(random, ApiKey.ELECT_LEADERS)
    kind = random.choice((0, 0, 1)) if version >= 1 else 0
    partitions = tuple(sorted(random.sample(range(4), random.choice((1, 2, 3)))))
    return Elect(at(random), version, kind, topic(random), partitions)


class Write(NamedTuple):
    at: int
    version: int
    name: str
    partition: int

    def execute(self, model: BrokersModel) -> None:
        if model.has_one_replica(self.name):
            request = produce(model.topic(self.name), (self.partition, batch(b"v")))
            model.ask(self.at, request, self.version)


def draw_write(random: Random) -> Write:
    version = draw_version(random, ApiKey.PRODUCE)
    return Write(at(random), version, topic(random), random.randrange(4))


class Latest(NamedTuple):
    at: int
    version: int
    name: str
    partition: int

    def execute(self, model: BrokersModel) -> None:
        if model.has_one_replica(self.name):
            asked = (self.partition, -1, -1)
            request = list_offsets.question(model.session.name(self.name), asked)
            model.ask(self.at, request, self.version)


def draw_latest(random: Random) -> Latest:
    version = draw_version(random, ApiKey.LIST_OFFSETS)
    return Latest(at(random), version, topic(random), random.randrange(4))


class Find(NamedTuple):
    at: int
    version: int
    kind: int
    owner: int

    def execute(self, model: BrokersModel) -> None:
        session = model.session
        key_on = session.transaction_on if self.kind else session.group_on
        key = key_on(self.owner, f"key-{self.owner}")
        request = FindCoordinatorRequest(key, self.kind)
        if self.version >= 4:
            request = FindCoordinatorRequest("", self.kind, [key])
        model.ask(self.at, request, self.version)


class Commit(NamedTuple):
    at: int
    version: int
    owner: int
    name: str
    offset: int

    def execute(self, model: BrokersModel) -> None:
        group = model.session.group_on(self.owner, f"key-{self.owner}")
        request = commit(group, (model.topic(self.name), [(0, self.offset, -1, "")]))
        model.ask(self.at, request, self.version)


class Committed(NamedTuple):
    at: int
    version: int
    owner: int
    name: str

    def execute(self, model: BrokersModel) -> None:
        group = model.session.group_on(self.owner, f"key-{self.owner}")
        request = fetch(self.version, group, [(model.topic(self.name), [0, 1])])
        model.ask(self.at, request, self.version)


class LogDirs(NamedTuple):
    at: int
    name: str

    def execute(self, model: BrokersModel) -> None:
        if model.has_one_replica(self.name):
            asked = [DescribableLogDirTopic(model.session.name(self.name), [0, 1, 2, 3])]
            model.ask(self.at, DescribeLogDirsRequest(asked), 4, one_directory)


class Unregister(NamedTuple):
    at: int
    broker_id: int

    def execute(self, model: BrokersModel) -> None:
        model.ask(self.at, UnregisterBrokerRequest(self.broker_id), 0)


def at(random: Random) -> int:
    return random.choice(BROKERS)


def topic(random: Random) -> str:
    return random.choice(TOPICS[:3] if random.random() < 0.95 else TOPICS)


def draw_commit(random: Random) -> Commit:
    version = draw_version(random, ApiKey.OFFSET_COMMIT)
    return Commit(at(random), version, at(random), topic(random), random.randrange(100))


def draw_committed(random: Random) -> Committed:
    version = draw_version(random, ApiKey.OFFSET_FETCH)
    return Committed(at(random), version, at(random), topic(random))


def draw_find(random: Random) -> Find:
    version = draw_version(random, ApiKey.FIND_COORDINATOR)
    kind = random.choice((0, 1)) if version >= 1 else 0
    return Find(at(random), version, kind, at(random))


def draw_metadata(random: Random) -> AskMetadata:
    version = draw_version(random, ApiKey.METADATA)
    return AskMetadata(at(random), version, topic(random))


DRAWN: dict[Callable[[Random], Any], int] = {
    draw_create: 6, draw_grow: 3, draw_reassign: 4, draw_elect: 3, draw_write: 5, draw_latest: 4,
    draw_find: 2, draw_commit: 3, draw_committed: 3, draw_metadata: 5,
    lambda random: Delete(at(random), topic(random)): 2,
    lambda random: Describe(at(random), (topic(random), topic(random))): 3,
    lambda random: Moving(at(random), topic(random)): 2,
    lambda random: LogDirs(at(random), topic(random)): 3,
    lambda random: Unregister(at(random), random.choice((4, 0, -1))): 1,
}  # fmt: skip


def draw(random: Random, count: int) -> Sequence[Any]:
    chosen = random.choices(list(DRAWN), list(DRAWN.values()), k=count)
    return [*(draw_create(random) for _ in range(2)), *(each(random) for each in chosen)]


AREA = Area("brokers", draw, BrokersModel)
