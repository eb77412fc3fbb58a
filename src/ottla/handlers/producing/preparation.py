"""Batches of a Produce request that are opened before they are appended, in a thread if necessary.

Promises  requests of a connection take effect in order. Other connections do not wait while batches
          are recompressed or checked for keys, nor for a request of very many small batches.
Leaves    the choice of batches, and their processing, to the log.
"""

from __future__ import annotations

from typing import cast

from ottla.base.scheduling.step_scheduler import StepScheduler
from ottla.base.scheduling.steps import Steps, run_blocking
from ottla.handlers.serving.context import Context
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.records.batch import Buffer
from ottla.replication.partition import Partition
from ottla.storage.log.preparation import CLOSED, Prepared, share_of_iteration

TOPIC_IDS_FROM = 13


class Preparation:
    """The batches of one request that must be opened."""

    def __init__(self, context: Context) -> None:
        self._version = context.version
        self._now_ms = context.parts.clock.now_ms()
        self._by_part: dict[int, Prepared] = {}  # by `id` of the partition's request data
        self._share = 0.0  # of what may be opened in one iteration of the event loop

    def add(self, part: PartitionProduceData, partition: Partition) -> None:
        records, rules = cast(Buffer, part.records), partition.log.rules
        share = share_of_iteration(records, rules)
        if share != CLOSED:
            self._by_part[id(part)] = Prepared(records, rules, self._version, self._now_ms)
            self._share += share

    def run_at_once(self) -> bool:
        """Do the work on the event loop if it is small; returns whether it is done."""
        return self._share <= 1 and all(each.run_at_once() for each in self._by_part.values())

    async def run(self, scheduler: StepScheduler) -> None:
        """Do the work in one thread, so that a request does not occupy all of them."""
        await scheduler.in_thread(self._run_all)

    def _run_all(self) -> None:
        for prepared in self._by_part.values():
            prepared.run()

    def of(self, part: PartitionProduceData) -> Buffer | Prepared | None:
        """The records to append, prepared if necessary."""
        return self._by_part.get(id(part), cast(Buffer | None, part.records))


def opens_batches(request: ProduceRequest, context: Context) -> bool:
    """Whether any of its topics requires it: few do."""
    opening, by_id = context.parts.replicas.opening, context.version >= TOPIC_IDS_FROM
    for topic in request.topic_data if opening else ():
        if (topic.topic_id if by_id else topic.name) in opening:
            return True
    return False


def preparation(request: ProduceRequest, context: Context) -> Preparation | None:
    return run_blocking(preparing(request, context))


def preparing(request: ProduceRequest, context: Context) -> Steps[Preparation | None]:
    """As `preparation`, for very many partitions."""
    prepared = None
    for topic in request.topic_data:
        yield 0
        name = topic.topic_id if context.version >= TOPIC_IDS_FROM else topic.name
        if name not in context.parts.replicas.opening:
            continue
        prepared = prepared or Preparation(context)
        for part in topic.partition_data:
            yield 0
            try:
                partition = _partition(topic, part.index, context)
            except BrokerError:
                continue  # the append will have the same error
            if part.records is not None:
                prepared.add(part, partition)
    return prepared


def _partition(topic: TopicProduceData, index: int, context: Context) -> Partition:
    replicas = context.parts.replicas
    if context.version >= TOPIC_IDS_FROM:
        return replicas.partition_by_id(topic.topic_id, index)
    return replicas.partition(topic.name, index)
