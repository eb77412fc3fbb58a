"""What random requests about logs use: topics of several kinds, and requests.

Owns      the topics, producers and fetch sessions of one sequence, and how a step is sent.
Leaves    which steps there are to `log.py`, what is wrong with bad batches to their script.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy, deepcopy
from dataclasses import dataclass
from typing import Any

from tests.compatibility.differential.batches import TIME_MS, batch, mixed
from tests.compatibility.differential.plain import is_of_the_clock
from tests.compatibility.differential.scripts.configs import DELETE, SET, TOPIC, change
from tests.compatibility.differential.scripts.produce import BAD, BAD_WITH_KEYS
from tests.compatibility.differential.session import Topic
from tests.compatibility.random_requests.step_client import StepClient
from tests.support.waiting import wait_until

from ottla.protocol.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest
from ottla.protocol.messages.describe_producers_request import (
    DescribeProducersRequest,
    TopicRequest,
)
from ottla.protocol.messages.fetch_request import (
    FetchPartition,
    FetchRequest,
    FetchTopic,
    ForgottenTopic,
)
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest
from ottla.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from ottla.protocol.messages.offset_for_leader_epoch_request import (
    OffsetForLeaderEpochRequest,
    OffsetForLeaderPartition,
    OffsetForLeaderTopic,
)
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)

Place = tuple[str, int]
WAIT_MS = 1500
UNKNOWN = 3  # UNKNOWN_TOPIC_OR_PARTITION
DAY_MS = 86_400_000
PRODUCERS = 2
NEVER_ROLLED = {"segment.ms": str(10**15)}
TOPICS: dict[str, tuple[int, dict[str, str]]] = {
    "t": (3, {}),
    "compacted": (1, {"cleanup.policy": "compact", **NEVER_ROLLED}),
    "stamped": (1, {"message.timestamp.type": "LogAppendTime"}),
    "small": (1, {"max.message.bytes": "150"}),
    "plain": (1, {"compression.type": "uncompressed"}),
}
PLACES: list[Place] = [(name, index) for name, (size, _) in TOPICS.items() for index in range(size)]
WRONG_PLACES: list[Place] = [("t", 3), ("t", -1), ("none", 0)]


@dataclass(frozen=True)
class Batch:
    """What is written to one place."""

    place: Place
    kind: str = "good"  # or what is wrong with it
    count: int = 1
    codec: int = 0
    after_ms: int = 0
    producer: int = -1
    sequence: str = "next"
    epoch: int = 0

    def __repr__(self) -> str:
        words = [f"{self.place[0]}-{self.place[1]} {self.kind}"]
        if self.kind == "good":
            words.append(f"x{self.count} codec {self.codec} +{self.after_ms} ms")
        if self.producer >= 0:
            words.append(f"of {self.producer} epoch {self.epoch} sequence {self.sequence}")
        return f"({' '.join(words)})"


@dataclass(frozen=True)
class Step:
    kind: str
    version: int
    places: tuple[Place, ...] = ()
    batches: tuple[Batch, ...] = ()
    details: tuple[tuple[str, Any], ...] = ()

    def __getitem__(self, name: str) -> Any:
        return dict(self.details).get(name)

    def execute(self, model: LogsModel) -> None:
        getattr(model, f"ask_{self.kind}")(self)

    def __repr__(self) -> str:
        words = [f"{self.kind} v{self.version}", *map(repr, self.batches)]
        words += [f"{topic}-{index}" for topic, index in self.places]
        words += [f"{name}={value}" for name, value in self.details]
        return " ".join(words)


class LogsModel:
    """What one broker has answered in one sequence."""

    def __init__(self, client: StepClient) -> None:
        self.client, session = client, client.session
        self.topics = {name: session.topic(name, *reported) for name, reported in TOPICS.items()}
        self.topics["none"] = Topic(session.name("none"), b"0123456789abcdef")
        self.producers = [self.new_producer(number) for number in range(PRODUCERS)]
        self.next: dict[tuple[int, int, Place], int] = {}  # sequences by producer, epoch, place
        self.last: dict[tuple[int, int, Place], tuple[int, int]] = {}
        self.sessions = [(0, 0), (0, 0)]  # number and next epoch

    def after_step(self) -> None: ...

    def new_producer(self, number: int) -> int:
        session = self.client.session
        producer_id: int = session.once_ready(InitProducerIdRequest(None, 60_000), 4).producer_id
        session.names.define("producer", producer_id, str(number))
        return producer_id

    def by_topic(self, places: Sequence[Place]) -> list[tuple[Topic, list[int]]]:
        found: dict[str, list[int]] = {}
        for topic, index in places:
            found.setdefault(topic, []).append(index)
        return [(self.topics[topic], indexes) for topic, indexes in found.items()]

    def ask_recreate(self, step: Step) -> None:
        """Another topic of the same name, when the old one is gone."""
        ((name, _),) = step.places
        session, old = self.client.session, self.topics[name]
        session.quietly(DeleteTopicsRequest([], [old.name], 10_000), 5)
        asked = MetadataRequest([MetadataRequestTopic(bytes(16), old.name)], False)
        session.until(asked, 9, lambda answer: answer.topics[0].error_code == UNKNOWN, "deletion")
        self.topics[name] = session.topic(name, *TOPICS[name])

    def ask_settings(self, step: Step) -> None:
        """A setting of a topic, or its default again; logs have applied it before the next step."""
        ((name, _),) = step.places
        deed = (step["key"], SET if step["value"] is not None else DELETE, step["value"])
        self.client.ask(change((TOPIC, self.topics[name].name, [deed])), step.version)
        self.client.session.settle()
        self.client.session.settle()

    # Writing

    def ask_produce(self, step: Step) -> None:
        chosen = {each.place: self.sequence_of(each) for each in step.batches}
        data = {each.place: self.records_of(each, *chosen[each.place]) for each in step.batches}
        topics = []
        for name in dict.fromkeys(place[0] for place in data):
            parts = [PartitionProduceData(at[1], data[at]) for at in data if at[0] == name]
            topics.append(TopicProduceData(self.topics[name].name, self.topics[name].id, parts))
        request = ProduceRequest(None, step["acks"], 30_000, topics)
        asking = self.client.ask_silently if step["acks"] == 0 else self.client.ask
        answer = asking(request, step.version)
        for each in step.batches:
            if each.producer >= 0 and self.is_stored(answer, each.place):
                key, (first, count) = (each.producer, each.epoch, each.place), chosen[each.place]
                self.next[key], self.last[key] = first + count, (first, count)

    def is_stored(self, answer: Any, place: Place) -> bool:
        if (
            answer is None
        ):  # without acknowledgement: the connection is closed if there was any error
            return bool(next(reversed(self.client.session.answers.values())) == "no answer")
        wanted = self.topics[place[0]]
        return any(
            part.error_code == 0
            for topic in answer.responses
            if topic.name == wanted.name or topic.topic_id == wanted.id
            for part in topic.partition_responses
            if part.index == place[1]
        )

    def sequence_of(self, wanted: Batch) -> tuple[int, int]:
        """First sequence and number of records."""
        key = (wanted.producer, wanted.epoch, wanted.place)
        first, last = self.next.get(key, 0), self.last.get(key, (0, 1))
        match wanted.sequence:
            case "again":
                return last
            case "gap":
                return first + 2, wanted.count
            case "zero":
                return 0, wanted.count
            case "longer":
                return last[0], last[1] + 1
        return first, wanted.count

    def records_of(self, wanted: Batch, first: int, count: int) -> bytes | bytearray:
        key = b"key" if wanted.place[0] == "compacted" else None
        if wanted.kind == "mixed keys":
            return mixed(b"k", None, b"", None)
        if wanted.kind != "good":
            return (BAD_WITH_KEYS if key else BAD)[wanted.kind]
        producer = (-1, -1, -1)
        if wanted.producer >= 0:
            producer = (self.producers[wanted.producer], wanted.epoch, first)
        else:
            count = wanted.count
        values = [b"v%d" % at for at in range(count)]
        time_ms = TIME_MS + wanted.after_ms
        return batch(*values, key=key, time_ms=time_ms, producer=producer, codec=wanted.codec)

    # Reading

    def fetch_of(self, step: Step, session: tuple[int, int] = (0, -1)) -> FetchRequest:
        def wanted(index: int) -> FetchPartition:
            epoch, last_epoch = step["epoch"], step["last_epoch"]
            return FetchPartition(
                index,
                -1 if epoch is None else epoch,
                step["offset"],
                -1 if last_epoch is None else last_epoch,
                -1,
                1 << 20 if step["each"] is None else step["each"],
            )

        return FetchRequest(
            max_wait_ms=5 if step["min_bytes"] else 0,
            min_bytes=step["min_bytes"] or 0,
            max_bytes=1 << 20 if step["bytes"] is None else step["bytes"],
            isolation_level=step["isolation"] or 0,
            session_id=session[0],
            session_epoch=session[1],
            topics=[
                FetchTopic(topic.name, topic.id, [wanted(index) for index in indexes])
                for topic, indexes in self.by_topic(step.places)
            ],
            forgotten_topics_data=[
                ForgottenTopic(topic.name, topic.id, indexes)
                for topic, indexes in self.by_topic(step["forgotten"] or ())
            ],
        )

    def ask_fetch(self, step: Step) -> None:
        self.client.ask(self.fetch_of(step), step.version, shown=by_topic)

    def ask_waiting(self, step: Step) -> None:
        """At the end of a log, while something is written: to that log, or to another one."""
        ((topic, (index,)),) = self.by_topic(step.places)
        latest = ListOffsetsTopic(topic.name, [ListOffsetsPartition(index, -1, -1)])
        found = self.client.session.quietly(ListOffsetsRequest(-1, 0, [latest], 1000), 5)
        offset = found.topics[0].partitions[0].offset
        wanted = FetchPartition(index, -1, offset, -1, -1, 1 << 20)
        request = FetchRequest(
            max_wait_ms=WAIT_MS,
            min_bytes=step["min_bytes"],
            topics=[FetchTopic(topic.name, topic.id, [wanted])],
        )
        self.client.send(request, step.version)
        self.ask_produce(Step("produce", 9, (), step.batches, (("acks", -1),)))
        self.await_answers()

    def await_answers(self) -> None:
        def is_done() -> bool:
            self.client.collect()
            return not self.client.is_waiting

        wait_until(is_done, "an answer")

    def ask_session(self, step: Step) -> None:
        at = step["session"]
        number, epoch = self.sessions[at]
        deed = "open" if step["deed"] == "next" and not number else step["deed"]
        session = {
            "next": (number, epoch),
            "open": (number, 0),
            "close": (number, -1),
            "old epoch": (number, max(epoch - 1, 1)),
            "newer epoch": (number, epoch + 1),
            "unknown": (12345, 1),
            "negative": (number, -2),
        }[deed]
        answer = self.client.ask(self.fetch_of(step, session), step.version, shown=by_topic)
        if answer is None:
            return
        if deed == "open" and answer.error_code == 0:
            self.sessions[at] = (answer.session_id, 1)
        elif deed == "next" and answer.error_code == 0:
            self.sessions[at] = (number, epoch + 1)
        elif deed == "close":
            self.sessions[at] = (0, 0)

    def ask_offsets(self, step: Step) -> None:
        epoch = -1 if step["epoch"] is None else step["epoch"]
        topics = [
            ListOffsetsTopic(
                topic.name, [ListOffsetsPartition(at, epoch, step["time"]) for at in indexes]
            )
            for topic, indexes in self.by_topic(step.places)
        ]
        request = ListOffsetsRequest(-1, step["isolation"], topics, 1000)
        self.client.ask(request, step.version, shown=without_clock)

    def ask_delete(self, step: Step) -> None:
        topics = [
            DeleteRecordsTopic(
                topic.name, [DeleteRecordsPartition(index, step["to"]) for index in indexes]
            )
            for topic, indexes in self.by_topic(step.places)
        ]
        self.client.ask(DeleteRecordsRequest(topics, 10_000), step.version)

    def ask_epochs(self, step: Step) -> None:
        topics = [
            OffsetForLeaderTopic(
                topic.name,
                [OffsetForLeaderPartition(at, step["current"], step["epoch"]) for at in indexes],
            )
            for topic, indexes in self.by_topic(step.places)
        ]
        self.client.ask(OffsetForLeaderEpochRequest(-2, topics), step.version)

    def ask_producers(self, step: Step) -> None:
        topics = [TopicRequest(topic.name, at) for topic, at in self.by_topic(step.places)]
        self.client.ask(DescribeProducersRequest(topics), step.version)


def by_topic(answer: Any) -> Any:
    """Kafka splits the answer for a topic if others come between its partitions."""
    out = copy(answer)
    merged: dict[tuple[str, bytes], Any] = {}
    for topic in answer.responses:
        known = merged.setdefault((topic.topic, topic.topic_id), copy(topic))
        if known.partitions is not topic.partitions:
            known.partitions = [*known.partitions, *topic.partitions]
    out.responses = list(merged.values())
    return out


def without_clock(answer: Any) -> Any:
    """Markers, and records that brokers give a time, have that of the clock."""
    out = deepcopy(answer)
    for topic in out.topics:
        for part in topic.partitions:
            if is_of_the_clock(part.timestamp - 40 * DAY_MS):
                part.timestamp = 1
    return out
