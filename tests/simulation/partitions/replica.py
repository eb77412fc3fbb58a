"""One process of a broker with one replica: the production code of partitions, logs and followers.

Owns      what the process has in memory. The disk belongs to the broker, and outlives it.
Leaves    when anything happens to `world.py`, and what is delivered to whom.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from math import inf
from types import SimpleNamespace
from typing import Any, NamedTuple, cast

from tests.support.steps_by_hand import JobsLater

from ottla.base.clock import Clock, monotonic_ms
from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicPartition
from ottla.base.rates import Windows
from ottla.base.scheduling.steps import run_blocking
from ottla.config.load import load_config
from ottla.config.topic_options import TopicConfig
from ottla.handlers.fetching.partition_read import look_up
from ottla.handlers.fetching.requested import RequestedPartitions
from ottla.handlers.serving.context import Context
from ottla.metadata.entities import Topic
from ottla.metadata.image import Batch, Image
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.alter_partition_request import AlterPartitionRequest
from ottla.protocol.messages.alter_partition_response import AlterPartitionResponse
from ottla.protocol.messages.fetch_request import FetchRequest
from ottla.protocol.messages.fetch_response import PartitionData
from ottla.replication.fetch_sessions import FetchKey, WantedPartition
from ottla.replication.following.fetched_records import locating, taking
from ottla.replication.following.replica_session import (
    PartitionKey,
    ReplicaFetchLimits,
    ReplicaSession,
)
from ottla.replication.in_sync_requests import (
    InSyncRequests,
    Requested,
    note_answers,
    request_topics,
)
from ottla.replication.leader_role import ACKS_ALL
from ottla.replication.partition import Partition
from ottla.replication.partition_placement import check_epoch, leadership_of
from ottla.replication.replication_quota import ReplicationQuota, sent_by_leaders
from ottla.replication.sole_replica import SoleReplica
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint, open_log
from ottla.testing.filesystem import MemoryDisk
from ottla.testing.log_listener import log_context

CONFIG = load_config(None, {}, ["node.id=1"]).config
NAME = TopicPartition("t", 0)
PATH = "/data/t-0"
ROOM = 1 << 20
LIMITS = ReplicaFetchLimits(ROOM, ROOM, 1, 500)
LAG_MS_MAX = 1000
FETCH_VERSION = 17
Done = Callable[[Exception | None], None]


class Violation(AssertionError):
    """Something is not as it must be."""


class Disk(NamedTuple):
    """What a broker finds when it starts."""

    files: MemoryDisk
    topic: TopicConfig

    @classmethod
    def new(cls, topic: TopicConfig) -> Disk:
        files = MemoryDisk()
        files.make_directory(PATH)
        files.sync_directory("/")
        files.sync_directory("/data")
        return cls(files, topic)

    def open(self, clock: Clock, checkpoint: Checkpoint) -> Log:
        return open_log(log_context(self.files, clock, "/data"), NAME, PATH, self.topic, checkpoint)


class Asked(NamedTuple):
    """A fetch under way."""

    request: FetchRequest
    leader: int
    leader_epoch: int


@dataclass
class Listener(SoleReplica):
    """Notes that the in-sync replicas may have to change; followers ask by themselves here."""

    is_due: bool = False

    def follower_caught_up(self, partition: Partition) -> None:
        self.is_due = True

    def leads_unrecovered(self, partition: Partition) -> None:
        self.is_due = True


@dataclass
class Replica:
    broker_id: int
    number: int  # of the process
    disk: Disk
    clock: Clock
    log: Log
    image: Image = field(default_factory=Image)
    epoch: int = -1  # of the broker, once it is registered
    partition: Partition | None = None  # once it has seen its registration
    asked: Asked | None = None
    altering: list[Requested] | None = None
    is_syncing: bool = False  # what was fetched last must be synced before the next fetch

    def __post_init__(self) -> None:
        self.syncs = JobsLater()
        self.listener = Listener()
        self.requests = InSyncRequests(self.image, lambda: LAG_MS_MAX, self.clock)

    @property
    def is_serving(self) -> bool:
        return self.partition is not None

    @property
    def is_leader(self) -> bool:
        return self.partition is not None and self.partition.is_leader

    @property
    def leading(self) -> Partition:
        assert self.partition is not None
        return self.partition

    # Metadata

    def apply(self, batch: Batch) -> None:
        self.image.apply(batch)
        if self.partition is not None:
            self._place()
        elif 0 <= self.epoch < self.image.offset and NAME.topic in self.image.topics:
            topic_id = self._topic.id
            self.partition = Partition(
                NAME, topic_id, self.broker_id, self.log, self.syncs, self.listener
            )
            self._place()

    @property
    def _topic(self) -> Topic:
        return self.image.topics[NAME.topic]

    def _place(self) -> None:
        """As `partition_placement.py` does it."""
        partition, decided = self.leading, self._topic.partitions[NAME.partition]
        old = (partition.leadership.leader, partition.leader_epoch)
        if decided.leader == self.broker_id and decided.leader_epoch != partition.leader_epoch:
            check_epoch(partition.log, decided.leader_epoch)
        partition.lead_or_follow(leadership_of(decided), monotonic_ms(self.clock))
        if (partition.leadership.leader, partition.leader_epoch) != old:
            self.asked = None  # another fetcher, with a connection of its own
            self.is_syncing = False

    # As a follower

    @property
    def follows(self) -> int | None:
        """The leader, if it may be asked now."""
        partition = self.partition
        if partition is None or partition.is_leader or partition.leadership.leader < 0:
            return None
        return None if self.asked or self.is_syncing else partition.leadership.leader

    def ask(self) -> Asked | None:
        """None if records must be synced first."""
        partition = self.leading
        session = ReplicaSession(self.broker_id, LIMITS)
        position = run_blocking(locating(partition))
        if partition.needs_sync(position.offset):
            self._sync()
            return None
        session.put(PartitionKey(partition.topic_id, NAME.partition), position)
        request = session.next_request(self.epoch)
        self.asked = Asked(request, partition.leadership.leader, partition.leader_epoch)
        return self.asked

    def take(self, asked: Asked, answer: PartitionData) -> str:
        """Apply the response, unless it is of another connection; what was done."""
        if self.asked is not asked:
            return "ignored"
        self.asked = None
        partition = self.leading
        if answer.error_code != ErrorCode.NONE:
            if answer.error_code == ErrorCode.OFFSET_OUT_OF_RANGE:
                raise Violation("the leader knows nothing of the follower's last epoch")
            return ErrorCode(answer.error_code).name
        before = partition.log.log_end_offset
        taken = run_blocking(taking(partition, answer, lambda: True))
        assert taken is not None
        if taken.must_flush:
            self._sync()
        return f"{before} to {partition.log.log_end_offset}"

    def _sync(self) -> None:
        self.is_syncing = True
        self.leading.when_replica_synced(self._synced)

    def _synced(self, _error: Exception | None) -> None:
        self.is_syncing = False

    # As a leader

    def answer(self, request: FetchRequest) -> PartitionData:
        """The response to a fetch of a follower, with its records as bytes."""
        context = self._context()
        asked = request.topics[0].partitions[0]
        wanted = WantedPartition(
            FetchKey(request.topics[0].topic_id, asked.partition),
            asked.fetch_offset,
            asked.partition_max_bytes,
            asked.current_leader_epoch,
            asked.last_fetched_epoch,
            asked.log_start_offset,
        )
        requested = RequestedPartitions(request, context)
        answer = look_up(BLOCKING, wanted, requested, context, ROOM, is_first=True).answer
        if answer.records is not None and not isinstance(answer.records, bytes):
            answer.records = cast(Any, answer.records).read()
        return answer

    def _context(self) -> Context:
        """The parts of a broker that reading a partition uses."""
        replicas = SimpleNamespace(partition_by_key=lambda _key: self.leading)
        config = SimpleNamespace(broker=CONFIG)
        quota = ReplicationQuota(
            self.broker_id, sent_by_leaders, lambda: inf, Windows(11, 1000), self.clock
        )
        parts = SimpleNamespace(
            replicas=replicas,
            metadata=self.image,
            clock=self.clock,
            config=config,
            leader_quota=quota,
        )
        return cast(Context, SimpleNamespace(parts=parts, peer=None, version=FETCH_VERSION))

    def produce(self, batch: bytearray, done: Done) -> int:
        """Append with acks=all; BrokerError if it is refused."""
        partition = self.leading
        epoch = partition.leader_epoch
        appended = partition.append(batch, ACKS_ALL)
        partition.when_replicated(appended.last_offset + 1, done, epoch)
        return appended.last_offset

    # In-sync replicas

    def look(self) -> None:
        if self.is_leader and self.requests.is_due(self.leading):
            self.listener.is_due = True

    def alter(self) -> AlterPartitionRequest | None:
        """The next request to the controller, one at a time."""
        if self.altering is not None or not self.listener.is_due or self.partition is None:
            return None
        self.listener.is_due = False
        requested = self.requests.decide(self.partition)
        if requested is None:
            return None
        self.altering = [requested]
        return AlterPartitionRequest(self.broker_id, self.epoch, request_topics(self.altering))

    def altered(self, response: AlterPartitionResponse | None) -> None:
        """None if the outcome is not known: the request is sent again."""
        assert self.altering is not None
        altering, self.altering = self.altering, None
        if response is None:
            self.listener.is_due = True
        else:
            note_answers(altering, response)

    # Content

    def content(self) -> bytes:
        """All records, as they are in the files."""
        found = []
        for segment in self.log.segments:
            file = segment.open(BLOCKING)
            found.append(file.read_at(0, segment.size))
        return b"".join(map(bytes, found))
