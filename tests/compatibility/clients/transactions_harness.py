"""A transactional producer that sends exactly what a test asks for, to any broker.

Every step is one request in one version; what comes back are error codes. Where a broker finishes a
transaction in its own time, `settled` asks again until it has.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import count
from typing import Any, NamedTuple

from tests.support.raw_client import RawClient, batch_of
from tests.support.waiting import pause

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.add_offsets_to_txn_request import AddOffsetsToTxnRequest
from ottla.protocol.messages.add_partitions_to_txn_request import (
    AddPartitionsToTxnRequest,
    AddPartitionsToTxnTopic,
    AddPartitionsToTxnTransaction,
)
from ottla.protocol.messages.end_txn_request import EndTxnRequest
from ottla.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.fetch_response import PartitionData
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.init_producer_id_request import InitProducerIdRequest
from ottla.protocol.messages.offset_fetch_request import (
    OffsetFetchRequest,
    OffsetFetchRequestGroup,
    OffsetFetchRequestTopics,
)
from ottla.protocol.messages.txn_offset_commit_request import (
    TxnOffsetCommitRequest,
    TxnOffsetCommitRequestPartition,
    TxnOffsetCommitRequestTopic,
)
from ottla.protocol.records.batch import BatchHeader, iterate_headers

PATIENCE_S = 120.0
NOT_YET = frozenset(
    {
        ErrorCode.CONCURRENT_TRANSACTIONS,
        ErrorCode.COORDINATOR_LOAD_IN_PROGRESS,
        ErrorCode.COORDINATOR_NOT_AVAILABLE,
        ErrorCode.NOT_COORDINATOR,
        ErrorCode.NOT_ENOUGH_REPLICAS,
        ErrorCode.UNSTABLE_OFFSET_COMMIT,
        ErrorCode.NOT_LEADER_OR_FOLLOWER,
        ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    }
)
READ_COMMITTED = 1
READ_UNCOMMITTED = 0
numbers = count()


class Begun(NamedTuple):
    """What InitProducerId or EndTxn answered."""

    code: ErrorCode
    producer_id: int = -1
    epoch: int = -1


def settled(ask: Callable[[], Any], code_of: Callable[[Any], ErrorCode] = lambda code: code) -> Any:
    """Ask until the answer is no longer that something has to end first."""
    began_s = time.monotonic()
    while code_of(answer := ask()) in NOT_YET:
        assert time.monotonic() - began_s < PATIENCE_S, f"still {answer!r} after {PATIENCE_S} s"
        pause(began_s)
    return answer


@dataclass
class TransactionsHarness:
    """One broker, and names that are unique there."""

    client: RawClient
    topic: str
    transactional_id: str
    group: str
    topic_id: bytes = bytes(16)
    timeout_ms: int = 600_000
    now_ms: Callable[[], int] = lambda: time.time_ns() // 1_000_000  # of records

    @classmethod
    def new(cls, client: RawClient) -> TransactionsHarness:
        number = f"{next(numbers)}-{time.time_ns()}"
        topic_id = client.create_topic(f"topic-{number}", partitions=2)
        harness = cls(client, f"topic-{number}", f"id-{number}", f"group-{number}", topic_id)
        for key, kind in ((harness.transactional_id, 1), (harness.group, 0)):
            harness.find_coordinator(key, kind)
        for partition in (0, 1):
            harness.wait_led(partition)
        return harness

    def find_coordinator(self, key: str, kind: int) -> None:
        request = FindCoordinatorRequest(key, kind)
        settled(lambda: self.client.ask(request, 2), lambda answer: ErrorCode(answer.error_code))

    def producer(self, version: int = 5) -> Producer:
        """The first of its id, with epoch 0."""
        begun = settled(lambda: self.init(version=version), lambda answer: answer.code)
        assert begun.code is ErrorCode.NONE, begun
        return Producer(self, begun.producer_id, begun.epoch)

    def init(
        self,
        expected: Begun | None = None,
        *,
        timeout_ms: int | None = None,
        transactional_id: str | None = None,
        version: int = 5,
    ) -> Begun:
        request = InitProducerIdRequest(
            self.transactional_id if transactional_id is None else transactional_id,
            self.timeout_ms if timeout_ms is None else timeout_ms,
        )
        if expected is not None:
            request.producer_id, request.producer_epoch = expected[1:]
        answer = self.client.ask(request, version)
        return Begun(ErrorCode(answer.error_code), answer.producer_id, answer.producer_epoch)

    def init_settled(self, expected: Begun | None = None) -> Begun:
        begun = settled(lambda: self.init(expected), lambda answer: answer.code)
        assert isinstance(begun, Begun)
        return begun

    # What readers see

    def fetch(self, isolation: int = READ_COMMITTED, partition: int = 0) -> PartitionData:
        wanted = FetchTopic(
            self.topic, partitions=[FetchPartition(partition, partition_max_bytes=1 << 20)]
        )
        request = FetchRequest(
            max_wait_ms=0, min_bytes=0, isolation_level=isolation, topics=[wanted]
        )
        data = self.client.ask(request, 11).responses[0].partitions[0]
        assert isinstance(data, PartitionData)
        return data

    def headers(self, partition: int = 0) -> list[BatchHeader]:
        """Of everything in the partition, markers included."""
        data = self.fetch(READ_UNCOMMITTED, partition).records
        return [header for _, header in iterate_headers(data or b"")]

    def wait_markers(self, count: int, partition: int = 0) -> list[BatchHeader]:
        """All markers in the partition, once there are as many as that."""
        began_s = time.monotonic()
        while True:
            found = [header for header in self.headers(partition) if header.is_control]
            if len(found) >= count:
                return found
            assert time.monotonic() - began_s < PATIENCE_S, f"{len(found)} of {count} markers"
            pause(began_s)

    def is_stable(self, partition: int = 0) -> bool:
        data = self.fetch(READ_COMMITTED, partition)
        return data.last_stable_offset == data.high_watermark

    def wait_stable(self, partition: int = 0) -> None:
        """Until every transaction has its marker here."""
        began_s = time.monotonic()
        while not self.is_stable(partition):
            assert time.monotonic() - began_s < PATIENCE_S, "transactions stay open"
            pause(began_s)

    def wait_led(self, partition: int) -> None:
        """Wait until the leader of a new partition has received its metadata."""
        settled(lambda: ErrorCode(self.fetch(partition=partition).error_code))
        stranger = Producer(self, 0, 0)
        settled(lambda: stranger.commit_offset(0, partition=partition))

    def committed_offset(self, *, require_stable: bool = False) -> tuple[ErrorCode, int]:
        group = OffsetFetchRequestGroup(
            self.group, topics=[OffsetFetchRequestTopics(self.topic, partition_indexes=[0])]
        )
        request = OffsetFetchRequest(groups=[group], require_stable=require_stable)
        found = self.client.ask(request, 8).groups[0].topics[0].partitions[0]
        return ErrorCode(found.error_code), found.committed_offset


@dataclass
class Producer:
    """A producer's id and epoch, and all it can ask for. Sequences count by themselves."""

    harness: TransactionsHarness
    producer_id: int
    epoch: int

    def __post_init__(self) -> None:
        self.sequences: dict[int, int] = {}

    @property
    def client(self) -> RawClient:
        return self.harness.client

    def with_epoch(self, epoch: int) -> Producer:
        return Producer(self.harness, self.producer_id, epoch)

    def add(
        self,
        partitions: Sequence[int] = (0,),
        *,
        version: int = 3,
        topic: str | None = None,
        transactional_id: str | None = None,
    ) -> list[ErrorCode]:
        """AddPartitionsToTxn as clients send it."""
        request = AddPartitionsToTxnRequest(
            v3_and_below_transactional_id=transactional_id or self.harness.transactional_id,
            v3_and_below_producer_id=self.producer_id,
            v3_and_below_producer_epoch=self.epoch,
            v3_and_below_topics=[
                AddPartitionsToTxnTopic(topic or self.harness.topic, list(partitions))
            ],
        )
        answer = self.client.ask(request, version).results_by_topic_v3_and_below
        return codes(answer)

    def verify(
        self, partitions: Sequence[int] = (0,), *, only: bool = True, version: int = 5
    ) -> list[ErrorCode]:
        """AddPartitionsToTxn as leaders send it to coordinators."""
        transaction = AddPartitionsToTxnTransaction(
            self.harness.transactional_id,
            self.producer_id,
            self.epoch,
            only,
            [AddPartitionsToTxnTopic(self.harness.topic, list(partitions))],
        )
        answer = self.client.ask(AddPartitionsToTxnRequest([transaction]), version)
        assert answer.error_code == 0
        return codes(answer.results_by_transaction[0].topic_results)

    def produce(
        self,
        *values: bytes,
        partition: int = 0,
        version: int = 9,
        sequence: int | None = None,
        is_transactional: bool = True,
        transactional_id: str | None = "",
    ) -> ErrorCode:
        if sequence is None:
            sequence = self.sequences.get(partition, 0)
        batch = batch_of(
            *(values or (b"value",)),
            producer_id=self.producer_id,
            epoch=self.epoch,
            sequence=sequence,
            is_transactional=is_transactional,
            timestamp_ms=self.harness.now_ms(),
        )
        if transactional_id == "":
            transactional_id = self.harness.transactional_id if is_transactional else None
        answer = self.client.produce(
            self.harness.topic,
            batch,
            partition=partition,
            transactional_id=transactional_id,
            version=version,
            topic_id=self.harness.topic_id,
        )
        code = ErrorCode(answer.error_code)
        if code is ErrorCode.NONE:
            self.sequences[partition] = sequence + max(1, len(values))
        return code

    def produce_settled(self, *values: bytes, partition: int = 0, version: int = 9) -> ErrorCode:
        code = settled(lambda: self.produce(*values, partition=partition, version=version))
        assert isinstance(code, ErrorCode)
        return code

    def end(self, is_commit: bool, *, version: int = 3) -> Begun:
        request = EndTxnRequest(
            self.harness.transactional_id, self.producer_id, self.epoch, is_commit
        )
        answer = self.client.ask(request, version)
        return Begun(ErrorCode(answer.error_code), answer.producer_id, answer.producer_epoch)

    def commit(self, *, version: int = 3) -> ErrorCode:
        return self.end(True, version=version).code

    def abort(self, *, version: int = 3) -> ErrorCode:
        return self.end(False, version=version).code

    def end_settled(self, is_commit: bool, *, version: int = 3) -> Begun:
        """The same again until nothing is left to do: repeating is harmless."""
        answer = settled(lambda: self.end(is_commit, version=version), lambda begun: begun.code)
        assert isinstance(answer, Begun)
        return answer

    def next(self, is_commit: bool = True) -> Producer:
        """End the transaction with version 2 of the protocol; the producer of the next one."""
        ended = self.end_settled(is_commit, version=5)
        assert ended.code is ErrorCode.NONE, ended
        return Producer(self.harness, ended.producer_id, ended.epoch)

    def add_offsets(self, *, version: int = 3, group: str | None = None) -> ErrorCode:
        request = AddOffsetsToTxnRequest(
            self.harness.transactional_id, self.producer_id, self.epoch, group or self.harness.group
        )
        return ErrorCode(self.client.ask(request, version).error_code)

    def commit_offset(
        self,
        offset: int,
        *,
        version: int = 3,
        topic: str | None = None,
        generation: int = -1,
        member: str = "",
        partition: int = 0,
    ) -> ErrorCode:
        part = TxnOffsetCommitRequestPartition(partition, offset, committed_metadata="")
        request = TxnOffsetCommitRequest(
            self.harness.transactional_id,
            self.harness.group,
            self.producer_id,
            self.epoch,
            topics=[TxnOffsetCommitRequestTopic(topic or self.harness.topic, [part])],
        )
        if version >= 3:
            request.generation_id, request.member_id = generation, member
        answer = self.client.ask(request, version)
        return ErrorCode(answer.topics[0].partitions[0].error_code)


def codes(topics: Any) -> list[ErrorCode]:
    """By partition: brokers answer in any order."""
    found = {
        (topic.name, each.partition_index): ErrorCode(each.partition_error_code)
        for topic in topics
        for each in topic.results_by_partition
    }
    return [found[name] for name in sorted(found)]
