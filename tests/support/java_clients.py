"""Kafka's Java clients and command-line tools, asked from Python. They run in the oracle's JVM."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from tests.support.oracle import Json, Oracle, from_base64, to_base64
from tests.support.records_oracle import Headers, headers_from_json, headers_to_json

from ottla.base.uuids import uuid_from_text

Step = list[Json]
BEGIN: Step = ["begin"]
COMMIT: Step = ["commit"]
ABORT: Step = ["abort"]
FLUSH: Step = ["flush"]
CLOSE: Step = ["close"]


@dataclass(frozen=True, slots=True)
class Consumed:
    """One record as a Java consumer received it."""

    offset: int
    timestamp: int
    timestamp_type: str
    key: bytes | None
    value: bytes | None
    headers: Headers
    leader_epoch: int | None = None


@dataclass(frozen=True, slots=True)
class Printed:
    """What a command-line tool wrote, and the status it ended with."""

    status: int
    text: str
    complaints: str  # its standard error


class JavaClients:
    """Clients of one cluster. A producer goes by a name and lives until its CLOSE step."""

    def __init__(self, oracle: Oracle, bootstrap: str) -> None:
        self._oracle = oracle
        self.bootstrap = bootstrap

    def create_topic(
        self, topic: str, *, partitions: int = 1, configs: Mapping[str, str] | None = None
    ) -> bytes:
        """Make a topic with one replica; its id."""
        answer = self._ask(
            "client.create_topic", topic=topic, partitions=partitions, configs=configs or {}
        )
        return uuid_from_text(answer["topic_id"])

    def delete_records(self, topic: str, before_offset: int, partition: int = 0) -> int:
        """Move the start of the log; where it begins now."""
        answer = self._ask(
            "client.delete_records", topic=topic, partition=partition, before_offset=before_offset
        )
        start: int = answer["start"]
        return start

    def produce(
        self, producer: str, steps: Sequence[Step], configs: Mapping[str, str] | None = None
    ) -> list[tuple[int, int]]:
        """Take the steps; (partition, offset) of each record sent. `configs` count for the first
        call with this name; with a `transactional.id` its transactions are initialised then."""
        answer = self._ask(
            "client.produce", producer=producer, steps=list(steps), configs=configs or {}
        )
        return [(partition, offset) for partition, offset in answer]

    def consume(
        self,
        topic: str,
        partition: int = 0,
        *,
        is_committed: bool = False,
        start: int | None = None,
        leader_epoch: int | None = None,
        configs: Mapping[str, str] | None = None,
    ) -> list[Consumed]:
        """Everything from `start` (or the beginning) to the end that the isolation level sees.
        With the leader epoch of `start`, the consumer asks first whether it still stands."""
        question = self._isolation(is_committed) | ({} if start is None else {"from": start})
        if configs:
            question["configs"] = {**question.get("configs", {}), **configs}
        if leader_epoch is not None:
            question["leader_epoch"] = leader_epoch
        answer = self._ask("client.consume", topic=topic, partition=partition, **question)
        return [consumed_from_json(record) for record in answer]

    def offsets(
        self, topic: str, partition: int = 0, *, is_committed: bool = False
    ) -> tuple[int, int]:
        """Start and end of a partition: high watermark, or last stable offset if committed."""
        question = self._isolation(is_committed)
        answer = self._ask("client.offsets", topic=topic, partition=partition, **question)
        return answer["start"], answer["end"]

    def offsets_for_times(
        self, topic: str, timestamps: Sequence[int], partition: int = 0
    ) -> list[tuple[int, int] | None]:
        """For each time (offset, timestamp) of the first record at or after it."""
        answer = self._ask(
            "client.offsets_for_times",
            topic=topic,
            partition=partition,
            timestamps=list(timestamps),
        )
        return [None if found is None else (found[0], found[1]) for found in answer]

    def read_at(self, topic: str, offsets: Sequence[int], partition: int = 0) -> list[int]:
        """One consumer seeks each of the offsets in turn; where the next record was."""
        found: list[int] = self._ask(
            "client.read_at", topic=topic, partition=partition, offsets=list(offsets)
        )
        return found

    def position_after_reset(self, topic: str, start: int, reset: str, partition: int = 0) -> int:
        """Where a consumer continues that began at an offset which is not there."""
        answer = self._ask(
            "client.position_after_reset",
            topic=topic,
            partition=partition,
            start=start,
            configs={"auto.offset.reset": reset},
        )
        position: int = answer["position"]
        return position

    def _ask(self, operation: str, **arguments: Json) -> Json:
        return self._oracle.ask(operation, bootstrap=self.bootstrap, **arguments)

    @staticmethod
    def _isolation(is_committed: bool) -> dict[str, Json]:
        level = "read_committed" if is_committed else "read_uncommitted"
        return {"configs": {"isolation.level": level}}


def send(
    topic: str,
    value: bytes | None,
    *,
    key: bytes | None = None,
    timestamp: int | None = None,
    headers: Headers = (),
    partition: int = 0,
) -> Step:
    record = {
        "topic": topic,
        "partition": partition,
        "timestamp": timestamp,
        "key": to_base64(key),
        "value": to_base64(value),
        "headers": headers_to_json(headers),
    }
    return ["send", record]


def offsets_in_transaction(group: str, topic: str, offset: int, partition: int = 0) -> Step:
    """Commit a group's offset with the producer's transaction."""
    return ["offsets", {"group": group, "topic": topic, "partition": partition, "offset": offset}]


def run_tool(oracle: Oracle, class_name: str, *arguments: str) -> Printed:
    answer = oracle.ask("tool.run", **{"class": class_name}, arguments=list(arguments))
    return Printed(answer["status"], answer["printed"], answer["complaints"])


def consumed_from_json(json: Json) -> Consumed:
    binary = {"key": from_base64(json["key"]), "value": from_base64(json["value"])}
    return Consumed(**json | binary | {"headers": headers_from_json(json["headers"])})
