"""Clients on librdkafka: producers, transactional writers and copiers, consumers."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from functools import partial
from typing import Any

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition
from tests.chaos.checker.history import Read, Result
from tests.chaos.clients.pacing import Pace
from tests.chaos.clients.values import copied, decode, encode
from tests.chaos.clients.worker import FENCED, Job

QUIET: dict[str, Any] = {
    "log_level": 0,
    "reconnect.backoff.max.ms": 500,
    "topic.metadata.refresh.interval.ms": 5000,
}
DELIVERY_S = 300.0  # longer than any fault: nothing is given up
TRANSACTION_S = 20.0
ATTEMPT_S = 30.0
SESSION_S = 10.0
COMMIT_S = 100.0  # longer than coordinators are away, and than the timeout of a request
POLL_S = 0.2
POLLED_MAX = 500


def common(job: Job) -> dict[str, Any]:
    """With OTTLA_CHAOS_DEBUG=eos,cgrp,protocol the clients' logs contain more."""
    if debug := os.environ.get("OTTLA_CHAOS_DEBUG"):
        QUIET.update({"debug": debug, "log_level": 7})
    return {**QUIET, "bootstrap.servers": job.order.bootstrap, "client.id": job.order.name}


def consumer_settings(job: Job) -> dict[str, Any]:
    return {
        **common(job),
        "group.id": job.order.group or job.order.name,
        "isolation.level": "read_committed",
        "auto.offset.reset": "earliest",
        "enable.auto.commit": False,
        "fetch.wait.max.ms": 200,
        "session.timeout.ms": int(1000 * SESSION_S),
    }


# Producers


def note_offset(job: Job, operation: int, value: str, message: Message) -> None:
    """A record that is known to be written because a later one is has no offset."""
    offset = message.offset()
    if offset is not None and offset >= 0:
        job.recorder.sent(operation, value, offset)


class Sending:
    """Sends of one producer outside transactions."""

    def __init__(self, job: Job, producer: Producer) -> None:
        self._job = job
        self._producer = producer
        self._sent = 0

    def one(self) -> None:
        order, recorder = self._job.order, self._job.recorder
        topic, partition = self._job.random_key()
        value, self._sent = f"{order.name}:{self._sent}", self._sent + 1
        operation = recorder.begin()
        recorder.send(operation, f"{topic}-{partition}", value)

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is None:
                note_offset(self._job, operation, value, message)
                recorder.end(operation, Result.OK)
            else:
                recorder.note(f"{value} was not delivered: {error}")
                recorder.end(operation, Result.UNKNOWN)

        self._producer.produce(
            topic, encode(value, self._job.sizes()), partition=partition, on_delivery=delivered
        )


def produce(job: Job) -> None:
    producer = Producer(
        {
            **common(job),
            "enable.idempotence": True,
            "linger.ms": 5,
            "message.timeout.ms": int(1000 * DELIVERY_S),
            "queue.buffering.max.messages": 20_000,
        }
    )
    sending, pace = Sending(job, producer), Pace(job.order.rate)
    while not job.stopping.is_set():
        for _ in range(job.rng.randint(1, 20)):
            try:
                sending.one()
            except BufferError:  # many wait for a fault to end
                producer.poll(0.1)
        producer.poll(0)
        while (pause_s := pace.pause_s(sending._sent)) > 0:
            producer.poll(min(pause_s, 0.1))
    if left := producer.flush(DELIVERY_S):
        job.recorder.note(f"failed: {left} records were not delivered")


# Transactions


class Transactions:
    """One transactional id. A producer that cannot continue is replaced by its successor, whose
    `init_transactions` ends what was open."""

    def __init__(self, job: Job) -> None:
        self._job = job
        self._producer: Producer | None = None
        self.operation = 0
        self.sent = 0

    def producer(self) -> Producer:
        while self._producer is None:
            producer = Producer(
                {
                    **common(self._job),
                    "transactional.id": self._job.order.name.partition(".")[0],
                    "transaction.timeout.ms": int(1000 * TRANSACTION_S),
                    "linger.ms": 5,
                }
            )
            try:
                retried(lambda producer=producer: producer.init_transactions(ATTEMPT_S))  # type: ignore[misc]
                self._producer = producer
            except KafkaException as error:
                self._job.recorder.note(f"init_transactions: {error}")
        return self._producer

    def begin(self) -> None:
        self.producer().begin_transaction()
        self.operation = self._job.recorder.begin(is_transaction=True)

    def send(self, topic: str, partition: int, value: str) -> None:
        recorder, operation = self._job.recorder, self.operation
        recorder.send(operation, f"{topic}-{partition}", value)

        def delivered(error: KafkaError | None, message: Message) -> None:
            if error is None:
                note_offset(self._job, operation, value, message)

        data = encode(value, self._job.sizes())
        self.producer().produce(topic, data, partition=partition, on_delivery=delivered)
        self.producer().poll(0)
        self.sent += 1

    def end(self, steps: Callable[[Producer], None] | None, *, commits: bool) -> bool:
        """Commit after these steps, or abort; whether it was committed."""
        producer = self.producer()
        result = Result.UNKNOWN
        try:
            try:
                if commits and steps is not None:
                    retried(lambda: steps(producer))
                if commits:
                    retried(lambda: producer.commit_transaction(ATTEMPT_S))
                    result = Result.OK
            except KafkaException as error:
                if not error.args[0].txn_requires_abort():
                    raise
                commits = False
                self._job.recorder.note(f"is aborted: {error}")
            if not commits:
                self._let_records_arrive(producer)
                retried(lambda: producer.abort_transaction(ATTEMPT_S))
                result = Result.FAILED
        except KafkaException as error:
            verb = "commit" if commits else "abort"
            self._job.recorder.note(f"another producer is needed after {verb}: {error}")
            self._producer = None
        self._job.recorder.end(self.operation, result)
        return result is Result.OK

    def _let_records_arrive(self, producer: Producer) -> None:
        """What librdkafka has not sent before an abort it never sends: then there would be nothing
        that a reader must not see. Some transactions are open for long enough to be read."""
        producer.flush(self._job.rng.uniform(0.0, 2.0))
        time.sleep(self._job.rng.choice([0.0, 0.0, 0.3]))


def retried(attempt: Callable[[], None]) -> None:
    """Until it succeeds, or fails in a way that a repetition does not help."""
    end_s = time.monotonic() + DELIVERY_S
    while True:
        try:
            attempt()
            return
        except KafkaException as error:
            if not error.args[0].retriable() or time.monotonic() > end_s:
                raise


def write(job: Job) -> None:
    """Transactions over several partitions; one in ten is aborted."""
    transactions, pace = Transactions(job), Pace(job.order.rate)
    while not job.stopping.is_set():
        transactions.begin()
        for _ in range(job.rng.randint(1, job.order.batch_max)):
            topic, partition = job.random_key()
            transactions.send(topic, partition, f"{job.order.name}:{transactions.sent}")
        transactions.end(None, commits=job.rng.random() >= 0.1)
        job.stopping.wait(pace.pause_s(transactions.sent))


# Consumers


class Polling:
    """A consumer whose polls end where a rebalance begins."""

    def __init__(self, job: Job, *, is_static: bool = False) -> None:
        """Static members of a group rebalance cooperatively: they keep their other partitions."""
        self._job = job
        settings = consumer_settings(job)
        if is_static:
            settings["group.instance.id"] = job.order.name.partition(".")[0]
            settings["partition.assignment.strategy"] = "cooperative-sticky"
        self._is_cooperative = is_static
        self.consumer = Consumer(settings)
        self._is_rebalanced = False
        self.is_fenced = False  # another process has taken its place in the group

    def subscribe(self) -> None:
        self.consumer.subscribe(
            sorted(self._job.order.topics), on_assign=self._changed, on_revoke=self._changed,
            on_lost=self._changed,
        )  # fmt: skip
        self._job.recorder.subscribed()

    def assign(self) -> None:
        self.consumer.assign(
            [
                TopicPartition(topic, at, 0)
                for topic, count in self._job.order.topics.items()
                for at in range(count)
            ]
        )
        self._job.recorder.assigned()

    def _changed(self, _consumer: Consumer, _partitions: list[TopicPartition]) -> None:
        self._is_rebalanced = True

    def some(self, count: int = POLLED_MAX) -> tuple[list[Message], bool]:
        """Up to so many records, and whether partitions were assigned before the first of them.
        Records from before a rebalance are left out, and are polled again, unless the rebalance is
        cooperative."""
        found: list[Message] = []
        is_rebalanced, self._is_rebalanced = self._is_rebalanced, False
        end_s = time.monotonic() + POLL_S
        while len(found) < count and (left_s := end_s - time.monotonic()) > 0:
            message = self.consumer.poll(0 if found else left_s)
            if self._is_rebalanced:
                is_rebalanced, self._is_rebalanced = True, False
                if not self._is_cooperative:
                    found.clear()
            if message is None:
                if found:
                    break
            elif (error := message.error()) is not None:
                self.note(error, "poll")
                if self.is_fenced:
                    break
            else:
                found.append(message)
        return found, is_rebalanced

    def note(self, error: KafkaError, call: str) -> None:
        self._job.recorder.note(f"{call}: {error}")
        self.is_fenced |= error.code() in (KafkaError.FENCED_INSTANCE_ID, KafkaError._FATAL)


def reads_of(messages: list[Message]) -> list[Read]:
    return [
        Read(f"{each.topic()}-{each.partition()}", each.offset() or 0, decode(each.value()))
        for each in messages
    ]


def read_assigned(job: Job) -> None:
    polling = Polling(job)
    polling.assign()
    while not job.stopping.is_set():
        messages, _ = polling.some()
        if messages:
            job.recorder.polled(reads_of(messages))
    polling.consumer.close()


def read_group(job: Job, *, is_static: bool = False) -> None:
    """Until it has to stop, or another process has taken its place."""
    polling = Polling(job, is_static=is_static)
    polling.subscribe()
    while not job.stopping.is_set() and not polling.is_fenced:
        messages, is_rebalanced = polling.some()
        if messages or is_rebalanced:
            job.recorder.polled(reads_of(messages), rebalanced=is_rebalanced)
        if messages:
            try:
                # Without a timeout: librdkafka 2.16 may lose a commit of a static member.
                with job.limited("commit", COMMIT_S):
                    polling.consumer.commit(asynchronous=False)
            except KafkaException as error:
                polling.note(error.args[0], "commit")
    polling.consumer.close()
    if polling.is_fenced:
        # By a successor; or by itself: after its session librdkafka joins again, as a new member,
        # and a commit that it has sent as the old one is refused.
        sys.exit(FENCED)


def copy(job: Job) -> None:
    """From the source topics to "copies": what was polled, its copies and the positions of the
    group in one transaction."""
    polling, transactions = Polling(job), Transactions(job)
    polling.subscribe()
    while not job.stopping.is_set():
        messages, is_rebalanced = polling.some(job.rng.randint(1, job.order.batch_max))
        if not messages:
            if is_rebalanced:
                job.recorder.polled([], rebalanced=True)
            continue
        transactions.begin()
        reads = reads_of(messages)
        job.recorder.poll(transactions.operation, reads, rebalanced=is_rebalanced)
        for message, read in zip(messages, reads, strict=True):
            value = copied(read.value, job.order.name, transactions.sent)
            transactions.send("copies", message.partition() or 0, value)
        positions = next_offsets(reads)

        def commit_positions(
            producer: Producer, positions: list[TopicPartition] = positions
        ) -> None:
            metadata = polling.consumer.consumer_group_metadata()
            # librdkafka 2.16 may wait without an end if the coordinator of the group has moved.
            with job.limited("send_offsets_to_transaction"):
                producer.send_offsets_to_transaction(positions, metadata, ATTEMPT_S)

        is_committed = transactions.end(commit_positions, commits=job.rng.random() >= 0.1)
        if not is_committed:
            transactions.producer()  # whatever is open is ended before positions are asked for
            rewind(job, polling.consumer)
    polling.consumer.close()


def next_offsets(reads: list[Read]) -> list[TopicPartition]:
    last = {read.key: read.offset for read in reads}
    return [
        TopicPartition(key.rpartition("-")[0], int(key.rpartition("-")[2]), offset + 1)
        for key, offset in last.items()
    ]


def rewind(job: Job, consumer: Consumer) -> None:
    """To what the group has committed."""
    while not job.stopping.is_set():
        try:
            for each in consumer.committed(consumer.assignment(), ATTEMPT_S):
                consumer.seek(TopicPartition(each.topic, each.partition, max(each.offset, 0)))
            break
        except KafkaException as error:
            job.recorder.note(f"rewind: {error}")
            if error.args[0].code() in (KafkaError._STATE, KafkaError.UNKNOWN_MEMBER_ID):
                consumer.poll(0)
            job.stopping.wait(0.2)
    job.recorder.assigned()


ROLES = {
    "produce": produce,
    "write": write,
    "copy": copy,
    "assigned": read_assigned,
    "group": read_group,
    "static-group": partial(read_group, is_static=True),
}
