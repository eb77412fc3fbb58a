"""Kafka's record batches, asked from Python: batches built by Kafka, and ours read by Kafka.

Reading makes every check that Kafka makes: checksum, lengths, varints, and that a batch has as
many records as it says. What Kafka refuses comes as `Refused`.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from tests.support.oracle import (
    Json,
    Oracle,
    Refused,
    from_base64,
    to_base64,
    values_or_raise,
)

from ottla.protocol.records.batch import Buffer

CODECS = ("none", "gzip", "snappy", "lz4", "zstd")

Headers = tuple[tuple[str, bytes | None], ...]


@dataclass(frozen=True, slots=True)
class JavaRecord:
    timestamp: int
    key: bytes | None
    value: bytes | None
    headers: Headers = ()
    offset: int | None = None  # by itself the next one when building
    sequence: int = -1
    control_type: str | None = None  # "COMMIT", "ABORT", ... in a control batch
    coordinator_epoch: int | None = None


@dataclass(frozen=True, slots=True)
class JavaBatch:
    """One batch as Kafka reads it; names as in `ottla.protocol.records.batch`."""

    base_offset: int
    last_offset: int
    size_bytes: int
    count: int
    leader_epoch: int
    crc: int
    codec: str
    timestamp_type: str
    max_timestamp: int
    producer_id: int
    producer_epoch: int
    base_sequence: int
    last_sequence: int
    is_transactional: bool
    is_control: bool
    records: tuple[JavaRecord, ...]
    delete_horizon_ms: int | None = None


@dataclass(frozen=True, slots=True)
class BatchSettings:
    codec: str = "none"
    base_offset: int = 0
    leader_epoch: int = -1
    producer_id: int = -1
    producer_epoch: int = -1
    base_sequence: int = -1
    is_transactional: bool = False
    timestamp_type: str = "CreateTime"
    log_append_time: int = -1

    def to_json(self) -> Json:
        return {name: getattr(self, name) for name in self.__slots__}


class RecordsOracle:
    def __init__(self, oracle: Oracle) -> None:
        self._oracle = oracle

    def build_many(
        self, cases: Iterable[tuple[Sequence[JavaRecord], BatchSettings]]
    ) -> list[bytes]:
        """A batch of Kafka's for each case; raises Refused where Kafka builds none."""
        questions = [
            {"op": "records.build", "records": [record_to_json(record) for record in records]}
            | settings.to_json()
            for records, settings in cases
        ]
        answers = values_or_raise(self._oracle.ask_many(questions))
        return [from_base64(answer["bytes"]) or b"" for answer in answers]

    def build(self, records: Sequence[JavaRecord], settings: BatchSettings) -> bytes:
        (data,) = self.build_many([(records, settings)])
        return data

    def end_marker(
        self,
        *,
        is_commit: bool,
        producer_id: int,
        producer_epoch: int,
        coordinator_epoch: int,
        timestamp: int,
        base_offset: int = 0,
        leader_epoch: int = -1,
    ) -> bytes:
        answer = self._oracle.ask(
            "records.end_marker",
            is_commit=is_commit,
            producer_id=producer_id,
            producer_epoch=producer_epoch,
            coordinator_epoch=coordinator_epoch,
            timestamp=timestamp,
            base_offset=base_offset,
            leader_epoch=leader_epoch,
        )
        return from_base64(answer["bytes"]) or b""

    def read_many(self, datas: Iterable[Buffer]) -> list[list[JavaBatch] | Refused]:
        """The batches in each of `datas`, or why Kafka does not read them all."""
        questions = [{"op": "records.read", "bytes": to_base64(data)} for data in datas]
        return [
            answer if isinstance(answer, Refused) else _batches(answer)
            for answer in self._oracle.ask_many(questions)
        ]

    def read(self, data: Buffer) -> list[JavaBatch]:
        (batches,) = self.read_many([data])
        if isinstance(batches, Refused):
            raise batches
        return batches


def _batches(answer: Json) -> list[JavaBatch]:
    assert answer["unread"] == 0, f"{answer['unread']} bytes after the last batch"
    return [batch_from_json(batch) for batch in answer["batches"]]


def batch_from_json(json: Json) -> JavaBatch:
    return JavaBatch(**json | {"records": tuple(map(record_from_json, json["records"]))})


def record_from_json(json: Json) -> JavaRecord:
    binary = {"key": from_base64(json["key"]), "value": from_base64(json["value"])}
    return JavaRecord(**json | binary | {"headers": headers_from_json(json["headers"])})


def record_to_json(record: JavaRecord) -> Json:
    json = {
        "timestamp": record.timestamp,
        "key": to_base64(record.key),
        "value": to_base64(record.value),
        "headers": headers_to_json(record.headers),
    }
    return json if record.offset is None else json | {"offset": record.offset}


def headers_to_json(headers: Iterable[tuple[str, bytes | None]]) -> Json:
    return [[key, to_base64(value)] for key, value in headers]


def headers_from_json(json: Json) -> Headers:
    return tuple((key, from_base64(value)) for key, value in json)
