"""Writing encoded batches, each stored once and in order, through broker restarts.

    identity = init_producer_id(cluster)
    with BatchProducer(cluster, identity) as producer:
        producer.send(TopicPartition("orders", 0), batch)
        written = producer.flush()

Promises  with an identity: a batch is stored exactly once, however often it has to be sent, and
          batches of a partition in the order in which they were given (KIP-98). Without: at least
          once, in order, one request at a time. Bytes are sent as they are, without a copy. At
          most `buffer.memory` bytes wait: then `send` waits for answers.
Leaves    building batches to `protocol.records`, ending transactions to `transactions.py`.
Threads   the cluster's. No others: answers are read when somebody sends or flushes.

A Produce request carries one batch per partition; up to `max.in.flight.requests.per.connection`
requests (5) are on their way to each broker. After an error that will not pass, the producer is of
no more use: every call raises it, and what was not acknowledged may be stored or not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from types import TracebackType
from typing import Self

from ottla.base.ids import TopicPartition
from ottla.client.cluster import Cluster
from ottla.client.errors import (
    ClientError,
    ConnectionLost,
    MalformedAnswer,
    Unreachable,
    code_of,
    kafka_error,
)
from ottla.client.produce_lanes import Lanes, Sent
from ottla.client.produce_messages import (
    may_pass,
    take_batches,
    told_by_partition,
    topic_data,
    version_at_most,
)
from ottla.client.produce_scope import Enlistment, WrittenTopics
from ottla.client.produce_window import (
    UNKNOWN_OFFSET,
    Acknowledged,
    PartitionWindow,
    PendingBatch,
)
from ottla.client.retrying import Patience, Reaction, reaction_to
from ottla.client.settings import Address
from ottla.client.topology import Leader
from ottla.client.transactions import ProducerIdentity
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.produce_request import ProduceRequest
from ottla.protocol.messages.produce_response import PartitionProduceResponse
from ottla.protocol.records.batch import Buffer


class BatchProducer:
    def __init__(
        self,
        cluster: Cluster,
        identity: ProducerIdentity | None = None,
        transactional_id: str | None = None,
        acks: int | None = None,
    ) -> None:
        """With a transactional id, partitions are added to the transaction as they are first
        written to; the caller ends it with `end_transaction`, here or elsewhere."""
        settings = cluster.settings
        self._acks = settings.acks if acks is None else acks
        if identity is not None and self._acks != -1:
            raise ValueError("an idempotent producer needs acks=all")
        if transactional_id is not None and identity is None:
            raise ValueError("a transactional producer needs the identity of its id")
        self._cluster = cluster
        self._identity = identity
        self._enlistment = Enlistment(cluster, transactional_id, identity)
        self._topics = WrittenTopics(cluster)
        self._windows: dict[TopicPartition, PartitionWindow] = {}
        self._lanes = Lanes(cluster, settings.in_flight_max if identity is not None else 1)
        self._waiting_bytes = 0
        self._patience = Patience("Produce", settings, settings.delivery_timeout_ms)
        self._trouble: ClientError | None = None
        self._failure: BaseException | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        _type: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        self.close()

    def close(self) -> None:
        """Without waiting: what was not flushed may be lost."""
        self._lanes.close()

    def begin_transaction(self) -> None:
        """The next one with the same identity: partitions are added anew, sequences go on."""
        assert all(window.is_settled for window in self._windows.values()), "flush first"
        self._enlistment.begin()

    @property
    def has_begun(self) -> bool:
        """Whether the transaction is open: a partition was added to it."""
        return self._enlistment.is_open

    def next_sequence(self, partition: TopicPartition) -> int:
        """Of the next batch: one that is built with it, and with the identity, saves the time to
        stamp it."""
        window = self._windows.get(partition)
        return 0 if window is None else window.next_sequence

    def send(
        self, partition: TopicPartition, batch: Buffer, records_count: int | None = None
    ) -> None:
        """Put one encoded batch on its way. It belongs to the producer from now on: identity and
        sequence are written into it, and it must not change until it is acknowledged."""
        self._check_usable()
        window = self._windows.get(partition)
        if window is None:
            window = PartitionWindow(partition, self._identity, self._is_transactional)
            self._windows[partition] = window
        pending = window.add(batch)
        if records_count is not None and records_count != pending.records:
            raise ValueError(f"{partition}: {pending.records} records, not {records_count}")
        self._waiting_bytes += len(batch)
        with self._failing():
            self._pump(window)

    def flush(self) -> dict[TopicPartition, Acknowledged]:
        """Wait until everything is acknowledged; what was stored since the producer began."""
        self._check_usable()
        self._patience.renew()
        with self._failing():
            while not all(window.is_settled for window in self._windows.values()):
                self._step()
        return {at: window.acknowledged for at, window in self._windows.items()}

    # Moving on

    def _check_usable(self) -> None:
        if self._failure is not None:
            raise self._failure

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Remembers what ended a call early: afterwards nobody knows what is where."""
        try:
            yield
        except BaseException as error:
            self._failure = error
            self.close()
            raise

    def _pump(self, window: PartitionWindow) -> None:
        """Send what is worth a request, and wait only if too much has gathered."""
        if self._trouble is None:
            self._patience.renew()  # what the caller did meanwhile does not count
        leader = self._cluster.leader_of(window.partition)
        if leader is not None:
            while self._lanes.has_answer(leader.broker_id):
                self._receive(leader.broker_id)
            is_busy = self._lanes.is_busy(leader.broker_id)
            if is_busy and len(window.waiting) < 2 and self._is_small:
                return  # more may come to share its request
        self._recover()
        self._dispatch()
        while self._waiting_bytes > self._cluster.settings.buffer_memory_bytes:
            self._step()

    @property
    def _is_transactional(self) -> bool:
        return self._enlistment.transactional_id is not None

    @property
    def _is_small(self) -> bool:
        return self._waiting_bytes < self._cluster.settings.max_request_bytes

    def _recover(self) -> None:
        """Wait a little after trouble, before everything is tried again."""
        if self._trouble is not None:
            self._patience.pause(self._trouble)
            self._trouble = None

    def _step(self) -> None:
        """Send what can be sent, then wait for one answer."""
        self._recover()
        self._dispatch()
        if self._trouble is None:
            broker_id = self._lanes.next_busy()
            if broker_id is not None:
                self._receive(broker_id)

    # Sending

    def _dispatch(self) -> None:
        """A request for every broker that has room for one, as long as there is something."""
        is_going_on = True
        while is_going_on:
            is_going_on = False
            for broker_id, windows in self._ready().items():
                is_going_on = self._dispatch_to(broker_id, windows) or is_going_on

    def _ready(self) -> dict[int, list[PartitionWindow]]:
        """Windows that may send now, by leader."""
        ready = [window for window in self._windows.values() if window.can_send]
        partitions = [window.partition for window in ready]
        trouble = self._cluster.find_leaders(partitions, self._patience)
        shares: dict[int, list[PartitionWindow]] = {}
        for window in ready:
            leader = self._cluster.leader_of(window.partition)
            if leader is None:
                self._trouble = trouble
            else:
                self._topics.note(window.partition.topic)
                shares.setdefault(leader.broker_id, []).append(window)
        return shares

    def _dispatch_to(self, broker_id: int, windows: list[PartitionWindow]) -> bool:
        if not self._lanes.has_room(broker_id):
            return False
        try:
            self._lanes.open(broker_id)
            self._enlistment.add(window.partition for window in windows)
            self._send(broker_id, windows)
        except (ConnectionLost, Unreachable) as error:
            self._lose(broker_id, error, [window.partition for window in windows])
            return False
        return True

    def _send(self, broker_id: int, windows: list[PartitionWindow]) -> None:
        batches = take_batches(windows, self._cluster.settings.max_request_bytes)
        for batch in batches:  # who was served goes to the end of the line
            self._windows[batch.partition] = self._windows.pop(batch.partition)
        topic_ids = self._topics.ids_of({batch.partition.topic for batch in batches})
        has_ids = all(any(topic_id) for topic_id in topic_ids.values())
        at_most = version_at_most(self._is_transactional, has_ids)
        version = self._lanes.version(broker_id, at_most)
        data = topic_data(batches, topic_ids, version)
        timeout_ms = self._cluster.settings.request_timeout_ms
        transactional_id = self._enlistment.transactional_id
        request = ProduceRequest(transactional_id, self._acks, timeout_ms, data)
        self._lanes.send(broker_id, request, version, Sent(batches, topic_ids))

    # Answers

    def _receive(self, broker_id: int) -> None:
        try:
            sent, answer = self._lanes.receive(broker_id)
        except MalformedAnswer:
            raise
        except ConnectionLost as error:
            self._lose(broker_id, error, [])
            return
        told = told_by_partition(answer, sent.topic_ids)
        endpoints = {each.node_id: Address(each.host, each.port) for each in answer.node_endpoints}
        for batch in sent.batches:
            if batch.partition not in told:
                reason = f"nothing is said of {batch.partition}"
                raise MalformedAnswer(self._lanes.address(broker_id), "Produce", reason)
            self._settle(batch, told[batch.partition], endpoints)

    def _settle(
        self, batch: PendingBatch, part: PartitionProduceResponse, endpoints: dict[int, Address]
    ) -> None:
        window = self._windows[batch.partition]
        code = code_of(part.error_code)
        if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
            offset = part.base_offset if code == ErrorCode.NONE else UNKNOWN_OFFSET
            window.settle(batch, offset)
            self._topics.note_written(batch.partition.topic)
            self._waiting_bytes -= len(batch.data)
            self._patience.renew()
            return
        place = self._cluster.place_of_leader(batch.partition)
        where = f"Produce to {batch.partition} at {place}"
        error = kafka_error(code, where, part.error_message)
        if not may_pass(window, batch, code):
            raise error
        window.send_again(batch)
        if not self._has_new_leader(batch.partition, part, endpoints):
            self._trouble = error
            if reaction_to(code) is Reaction.REFRESH:
                self._cluster.forget_leaders([batch.partition])

    def _has_new_leader(
        self,
        partition: TopicPartition,
        part: PartitionProduceResponse,
        endpoints: dict[int, Address],
    ) -> bool:
        hint = part.current_leader
        if hint is None:
            return False
        leader = Leader(hint.leader_id, hint.leader_epoch)
        return self._cluster.topology.note_hint(partition, leader, endpoints)

    def _lose(self, broker_id: int, error: ClientError, partitions: list[TopicPartition]) -> None:
        """Nobody knows what became of the requests on their way: all of them go again."""
        self._trouble = error
        batches = self._lanes.lose(broker_id)
        for batch in batches:
            self._windows[batch.partition].send_again(batch)
        self._cluster.forget_leaders([*partitions, *(batch.partition for batch in batches)])
