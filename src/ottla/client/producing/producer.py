"""Writing encoded batches, each stored once and in order, despite broker restarts.

    identity = init_producer_id(cluster)
    with BatchProducer(cluster, identity) as producer:
        producer.send(TopicPartition("orders", 0), batch)
        written = producer.flush()

Promises  with an identity: a batch is stored exactly once, however often it has to be sent, and
          batches of a partition in the order in which they were given (KIP-98). Without: at least
          once, in order, one request at a time. Bytes are sent without a copy. At most
          `buffer.memory` bytes are buffered: then `send` waits for responses.
Leaves    building batches to `protocol.records`, ending transactions to `transactions.py`, sending
          to `delivery.py`.
Threads   the cluster's. No others: responses are read in `send` and `flush`.

A Produce request has one batch per partition; up to `max.in.flight.requests.per.connection` (5)
requests to each broker are in flight. After an error that is not retriable the producer cannot be
used any more: every call raises that error, and batches without a response may be stored or not.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Self

from ottla.base.ids import TopicPartition
from ottla.client.admin.transactions import ProducerIdentity
from ottla.client.cluster.cluster import Cluster
from ottla.client.producing.delivery import ProduceDelivery
from ottla.client.producing.partition_window import Acknowledged
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
        acks = cluster.settings.acks if acks is None else acks
        if identity is not None and acks != -1:
            raise ValueError("an idempotent producer needs acks=all")
        if transactional_id is not None and identity is None:
            raise ValueError("a transactional producer needs the identity of its id")
        self._delivery = ProduceDelivery(cluster, identity, transactional_id, acks)
        self._failure: BaseException | None = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()

    def close(self) -> None:
        """Close without waiting: records that were not flushed may be lost."""
        self._delivery.close()

    def begin_transaction(self) -> None:
        """The next transaction of the same identity: partitions are added again, sequences
        continue."""
        assert self._delivery.is_settled, "flush first"
        self._delivery.enlistment.begin()

    @property
    def has_begun(self) -> bool:
        """Whether the transaction is open: a partition was added to it."""
        return self._delivery.enlistment.is_open

    def next_sequence(self, partition: TopicPartition) -> int:
        """The sequence of the next batch. A batch that is built with it, and with the identity,
        need not be changed."""
        window = self._delivery.windows.get(partition)
        return 0 if window is None else window.next_sequence

    def send(
        self, partition: TopicPartition, batch: Buffer, records_count: int | None = None
    ) -> None:
        """Send one encoded batch. Identity and sequence are written into it, and the caller must
        not change it until it is acknowledged."""
        self._check_usable()
        self._delivery.add(partition, batch, records_count)
        with self._failing():
            self._delivery.pump(partition)

    def flush(self) -> dict[TopicPartition, Acknowledged]:
        """Wait until everything is acknowledged; returns everything the producer has stored."""
        self._check_usable()
        with self._failing():
            self._delivery.settle_all()
        return {at: window.acknowledged for at, window in self._delivery.windows.items()}

    def _check_usable(self) -> None:
        if self._failure is not None:
            raise self._failure

    @contextmanager
    def _failing(self) -> Iterator[None]:
        """Keeps the error that ended a call: the state of the batches is unknown afterwards."""
        try:
            yield
        except BaseException as error:
            self._failure = error
            self.close()
            raise
