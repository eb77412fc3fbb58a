"""Sending batches to the leaders of their partitions, and again if that fails.

Owns      batches that wait or are in flight, and the deadline for retries.
Promises  every batch is sent again until it is stored, or refused with an error that is not
          retriable; batches of a partition keep their order.
Leaves    connections to `broker_connections.py`, the order in a partition to `partition_window.py`,
          what is allowed after a failure to `producer.py`.
"""

from __future__ import annotations

from ottla.base.ids import TopicPartition
from ottla.client.admin.transactions import ProducerIdentity
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.retries import Reaction, Retries, reaction_to
from ottla.client.cluster.topology import Leader
from ottla.client.errors import (
    ClientError,
    ConnectionLost,
    MalformedAnswer,
    Unreachable,
    code_of,
    kafka_error,
)
from ottla.client.producing.broker_connections import ProduceConnections, Sent
from ottla.client.producing.partition_window import UNKNOWN_OFFSET, PartitionWindow, PendingBatch
from ottla.client.producing.produce_requests import (
    may_pass,
    results_by_partition,
    take_batches,
    topic_data,
    version_at_most,
)
from ottla.client.producing.transaction_partitions import TransactionPartitions, WrittenTopics
from ottla.config.addresses import Address
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.produce_request import ProduceRequest
from ottla.protocol.messages.produce_response import PartitionProduceResponse
from ottla.protocol.records.batch import Buffer


class ProduceDelivery:
    def __init__(
        self,
        cluster: Cluster,
        identity: ProducerIdentity | None,
        transactional_id: str | None,
        acks: int,
    ) -> None:
        settings = cluster.settings
        self.enlistment = TransactionPartitions(cluster, transactional_id, identity)
        self.windows: dict[TopicPartition, PartitionWindow] = {}
        self._cluster = cluster
        self._identity = identity
        self._acks = acks
        self._topics = WrittenTopics(cluster)
        self._connections = ProduceConnections(
            cluster, settings.in_flight_max if identity is not None else 1
        )
        self._waiting_bytes = 0
        self._retries = Retries("Produce", settings, settings.delivery_timeout_ms)
        self._failure: ClientError | None = None

    def close(self) -> None:
        self._connections.close()

    @property
    def is_settled(self) -> bool:
        return all(window.is_settled for window in self.windows.values())

    def add(self, partition: TopicPartition, batch: Buffer, records_count: int | None) -> None:
        window = self.windows.get(partition)
        if window is None:
            window = PartitionWindow(partition, self._identity, self._is_transactional)
            self.windows[partition] = window
        pending = window.add(batch)
        if records_count is not None and records_count != pending.records:
            raise ValueError(f"{partition}: {pending.records} records, not {records_count}")
        self._waiting_bytes += len(batch)

    def pump(self, partition: TopicPartition) -> None:
        """Send requests that are large enough; wait only if too much is buffered."""
        if self._failure is None:
            self._retries.renew()  # the time that the caller took does not count
        leader = self._cluster.leader_of(partition)
        if leader is not None:
            while self._connections.has_answer(leader.broker_id):
                self._receive(leader.broker_id)
            is_busy = self._connections.is_busy(leader.broker_id)
            if is_busy and len(self.windows[partition].waiting) < 2 and self._is_small:
                return  # the next batch may share its request
        self._recover()
        self._dispatch()
        while self._waiting_bytes > self._cluster.settings.buffer_memory_bytes:
            self._step()

    def settle_all(self) -> None:
        self._retries.renew()
        while not self.is_settled:
            self._step()

    @property
    def _is_transactional(self) -> bool:
        return self.enlistment.transactional_id is not None

    @property
    def _is_small(self) -> bool:
        return self._waiting_bytes < self._cluster.settings.max_request_bytes

    def _recover(self) -> None:
        """Pause after an error, before batches are sent again."""
        if self._failure is not None:
            self._retries.pause(self._failure)
            self._failure = None

    def _step(self) -> None:
        """Send what can be sent, then wait for one response."""
        self._recover()
        self._dispatch()
        if self._failure is None:
            broker_id = self._connections.next_busy()
            if broker_id is not None:
                self._receive(broker_id)

    # Sending

    def _dispatch(self) -> None:
        """Send requests to every broker until there is nothing to send, or no room."""
        has_more = True
        while has_more:
            has_more = False
            for broker_id, windows in self._ready().items():
                has_more = self._dispatch_to(broker_id, windows) or has_more

    def _ready(self) -> dict[int, list[PartitionWindow]]:
        """Windows that may send now, by leader."""
        ready = [window for window in self.windows.values() if window.can_send]
        partitions = [window.partition for window in ready]
        problem = self._cluster.find_leaders(partitions, self._retries)
        shares: dict[int, list[PartitionWindow]] = {}
        for window in ready:
            leader = self._cluster.leader_of(window.partition)
            if leader is None:
                self._failure = problem
            else:
                self._topics.note(window.partition.topic)
                shares.setdefault(leader.broker_id, []).append(window)
        return shares

    def _dispatch_to(self, broker_id: int, windows: list[PartitionWindow]) -> bool:
        if not self._connections.has_room(broker_id):
            return False
        try:
            self._connections.open(broker_id)
            self.enlistment.add(window.partition for window in windows)
            self._send(broker_id, windows)
        except (ConnectionLost, Unreachable) as error:
            self._lose(broker_id, error, [window.partition for window in windows])
            return False
        return True

    def _send(self, broker_id: int, windows: list[PartitionWindow]) -> None:
        batches = take_batches(windows, self._cluster.settings.max_request_bytes)
        for batch in batches:  # these partitions go to the end, so that all are served
            self.windows[batch.partition] = self.windows.pop(batch.partition)
        topic_ids = self._topics.ids_of({batch.partition.topic for batch in batches})
        has_ids = all(any(topic_id) for topic_id in topic_ids.values())
        at_most = version_at_most(self._is_transactional, has_ids)
        version = self._connections.version(broker_id, at_most)
        data = topic_data(batches, topic_ids, version)
        timeout_ms = self._cluster.settings.request_timeout_ms
        transactional_id = self.enlistment.transactional_id
        request = ProduceRequest(transactional_id, self._acks, timeout_ms, data)
        self._connections.send(broker_id, request, version, Sent(batches, topic_ids))

    # Answers

    def _receive(self, broker_id: int) -> None:
        try:
            sent, answer = self._connections.receive(broker_id)
        except MalformedAnswer:
            raise
        except ConnectionLost as error:
            self._lose(broker_id, error, [])
            return
        results = results_by_partition(answer, sent.topic_ids)
        endpoints = {each.node_id: Address(each.host, each.port) for each in answer.node_endpoints}
        for batch in sent.batches:
            if batch.partition not in results:
                reason = f"nothing is said of {batch.partition}"
                raise MalformedAnswer(self._connections.address(broker_id), "Produce", reason)
            self._settle(batch, results[batch.partition], endpoints)

    def _settle(
        self, batch: PendingBatch, part: PartitionProduceResponse, endpoints: dict[int, Address]
    ) -> None:
        window = self.windows[batch.partition]
        code = code_of(part.error_code)
        if code in (ErrorCode.NONE, ErrorCode.DUPLICATE_SEQUENCE_NUMBER):
            offset = part.base_offset if code == ErrorCode.NONE else UNKNOWN_OFFSET
            window.settle(batch, offset)
            self._topics.note_written(batch.partition.topic)
            self._waiting_bytes -= len(batch.data)
            self._retries.renew()
            return
        leader = self._cluster.leader_address(batch.partition)
        where = f"Produce to {batch.partition} at {leader}"
        error = kafka_error(code, where, part.error_message)
        if not may_pass(window, batch, code):
            raise error
        window.send_again(batch)
        if not self._has_new_leader(batch.partition, part, endpoints):
            self._failure = error
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
        """Requests in flight may or may not have been processed: all are sent again."""
        self._failure = error
        batches = self._connections.lose(broker_id)
        for batch in batches:
            self.windows[batch.partition].send_again(batch)
        self._cluster.forget_leaders([*partitions, *(batch.partition for batch in batches)])
