"""Streams over logs that are truncated at random, between and in the middle of all requests.

One scripted broker has a log in memory. At random a new leader epoch begins at an earlier offset,
as after an unclean election, and other records follow. Whatever happens, a stream that may
lose records reads each record of the final log once, and none twice.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from random import Random
from typing import Any

import pyarrow as pa
import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, ReadMaxRows
from tests.unit.client.scripted import TOPIC_ID, ScriptedBroker, metadata

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.message import Message
from ottla.protocol.messages import (
    fetch_response,
    list_offsets_response,
    offset_for_leader_epoch_response,
)
from ottla.protocol.messages.fetch_response import FetchResponse
from ottla.protocol.messages.list_offsets_response import ListOffsetsResponse
from ottla.protocol.messages.offset_for_leader_epoch_response import OffsetForLeaderEpochResponse
from ottla.protocol.records.batch import stamp_offset_and_epoch
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record
from ottla.spark.data_source import stream_reader
from ottla.spark.errors import DataLoss
from ottla.spark.records.schema import full_schema

SEEDS = [*range(8), 30, 64]
STEPS = 25
EARLIEST = -2
OUT_OF_RANGE, FENCED, UNKNOWN = 1, 74, 75


class TruncatedLog:
    """The log of partition 0: the epoch of each record, whose value is its number."""

    def __init__(self, rng: Random, chance: float = 0.15, unclean: float = 0.7) -> None:
        self.rng = rng
        self.chance = chance  # of an election before an answer
        self.unclean = unclean  # the chance that it loses records
        self.epoch = 0
        self.records: list[tuple[int, bytes]] = []
        self.elections = 0
        self._written = 0
        self._lock = threading.RLock()
        self.write(10)

    def write(self, count: int) -> None:
        with self._lock:
            for _ in range(count):
                self.records.append((self.epoch, b"%d" % self._written))
                self._written += 1

    def elect(self) -> None:
        self.epoch += self.rng.randint(1, 2)
        self.elections += 1
        if self.records and self.rng.random() < self.unclean:
            del self.records[self.rng.randrange(len(self.records)) :]
        self.write(self.rng.choice([0, 1, 3, 20]))

    def end_of(self, epoch: int) -> tuple[int, int]:
        """As the leader's epoch cache: its own epoch has an entry from its beginning."""
        if epoch >= self.epoch:
            return (epoch, len(self.records)) if epoch == self.epoch else (-1, -1)
        known = [each for each, _ in self.records if each <= epoch]
        return (max(known, default=epoch), len(known))

    @contextmanager
    def answering(self) -> Iterator[None]:
        with self._lock:
            if self.rng.random() < self.chance:
                self.elect()
            yield

    def problem(self, epoch: int) -> int:
        if epoch == self.epoch:
            return 0
        return FENCED if epoch < self.epoch else UNKNOWN

    # Answers

    def list_offsets(self, request: Any) -> ListOffsetsResponse:
        asked = request.topics[0].partitions[0]
        with self.answering():
            end = 0 if asked.timestamp == EARLIEST else len(self.records)
            part = list_offsets_response.ListOffsetsPartitionResponse(
                0, self.problem(asked.current_leader_epoch), -1, end, self.epoch
            )
        topic = list_offsets_response.ListOffsetsTopicResponse("t", [part])
        return ListOffsetsResponse(topics=[topic])

    def end_of_epoch(self, request: Any) -> OffsetForLeaderEpochResponse:
        asked = request.topics[0].partitions[0]
        with self.answering():
            part = offset_for_leader_epoch_response.EpochEndOffset(
                self.problem(asked.current_leader_epoch), 0, *self.end_of(asked.leader_epoch)
            )
        topic = offset_for_leader_epoch_response.OffsetForLeaderTopicResult("t", [part])
        return OffsetForLeaderEpochResponse(topics=[topic])

    def fetch(self, request: Any) -> FetchResponse:
        asked = request.topics[0].partitions[0]
        with self.answering():
            code, end = self.problem(asked.current_leader_epoch), len(self.records)
            if not code and asked.fetch_offset > end:
                code = OUT_OF_RANGE
            data = b"" if code else self._batch(asked.fetch_offset)
        part = fetch_response.PartitionData(0, code, end, end, 0, records=memoryview(data))
        topic = fetch_response.FetchableTopicResponse("t", TOPIC_ID, [part])
        return FetchResponse(responses=[topic])

    def _batch(self, offset: int) -> bytes | bytearray:
        """A few records of one epoch."""
        found = self.records[offset : offset + 4]
        values = [value for epoch, value in found if epoch == found[0][0]]
        if not values:
            return b""
        records = [Record(offset + at, 0, None, value) for at, value in enumerate(values)]
        data = bytearray(build_batch(records, base_offset=offset))
        stamp_offset_and_epoch(data, 0, offset, found[0][0])
        return data


@contextmanager
def serving(log: TruncatedLog) -> Iterator[ScriptedBroker]:
    with ScriptedBroker() as broker:

        def describe(_request: Any) -> Message:
            with log.answering():
                return metadata({1: broker}, 1, log.epoch)

        broker.scripts = {
            ApiKey.METADATA: describe,
            ApiKey.LIST_OFFSETS: log.list_offsets,
            ApiKey.OFFSET_FOR_LEADER_EPOCH: log.end_of_epoch,
            ApiKey.FETCH: log.fetch,
        }
        yield broker


def new_reader(broker: ScriptedBroker, *, is_strict: bool) -> Any:
    options = {
        "kafka.bootstrap.servers": broker.address,
        "kafka.retry.backoff.ms": "1",
        "kafka.retry.backoff.max.ms": "2",
        "kafka.fetch.max.wait.ms": "1",
        "subscribe": "t",
        "startingOffsets": "earliest",
        "failOnDataLoss": str(is_strict),
        "commitOffsets": "false",
        "fetchOffset.retryIntervalMs": "1",
        "fetchOffset.numRetries": "1",
    }
    return stream_reader(options, full_schema(with_headers=False))


def stored(offsets: dict[str, Any]) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads(json.dumps(offsets))
    return loaded


def values_of(reader: Any, start: dict[str, Any], end: dict[str, Any]) -> list[bytes]:
    tables = [table for task in reader.partitions(start, end) for table in reader.read(task)]
    return pa.Table.from_batches(tables).column("value").to_pylist() if tables else []


def run(log: TruncatedLog, seed: int, *, is_strict: bool) -> list[bytes]:
    """The values of all batches, to the end of the final log."""
    rng = Random(seed)
    found: list[bytes] = []
    with serving(log) as broker:
        reader = new_reader(broker, is_strict=is_strict)
        start = stored(reader.initialOffset())
        for step in range(STEPS + 2):
            is_ending = step >= STEPS
            if is_ending:
                log.chance = 0.0
            if rng.random() < 0.1:  # a restart from the checkpoint
                reader.stop()
                reader = new_reader(broker, is_strict=is_strict)
            limit = ReadAllAvailable() if is_ending else ReadMaxRows(rng.randint(1, 12))
            end = stored(reader.latestOffset(start, limit))
            if end != start:
                found += values_of(reader, start, end)
                start = end
            if not is_ending:
                log.write(rng.randint(0, 5))
        reader.stop()
    return found


@pytest.mark.parametrize("seed", SEEDS)
def test_each_record_of_the_final_log_is_read_once(seed: int) -> None:
    log = TruncatedLog(Random(seed + 1000))
    found = run(log, seed, is_strict=False)
    final = [value for _, value in log.records]
    assert log.elections > 3
    assert len(found) == len(set(found)), "none is read twice"
    assert [value for value in found if value in set(final)] == final, "all of the log, in order"


@pytest.mark.parametrize("seed", range(4))
def test_clean_elections_are_no_loss(seed: int) -> None:
    log = TruncatedLog(Random(seed), unclean=0.0)
    assert run(log, seed, is_strict=True) == [value for _, value in log.records]
    assert log.elections > 3


@pytest.mark.parametrize("seed", range(12))
def test_a_strict_stream_reads_what_the_log_has_or_stops(seed: int) -> None:
    log = TruncatedLog(Random(seed), chance=0.01)
    try:
        found = run(log, seed, is_strict=True)
    except DataLoss:
        assert log.elections > 0
    else:
        assert found == [value for _, value in log.records]
