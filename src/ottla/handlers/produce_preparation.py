"""Batches of a Produce request that are opened in a thread before they are appended.

Promises  requests of a connection take effect in their order, whatever their batches need; other
          connections do not wait for a batch that is recompressed or searched for keys.
Leaves    which batches those are, and what is done with them, to the log.
"""

from __future__ import annotations

import asyncio
from typing import cast

from ottla.handlers.context import Context
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.produce_request import ProduceRequest
from ottla.protocol.records.batch import Buffer
from ottla.storage.log.preparation import Prepared, is_worth_a_thread

TOPIC_IDS_FROM = 13


PreparedBatches = dict[int, Prepared]  # by the identity of the part of the request


def large_batches(request: ProduceRequest, context: Context) -> PreparedBatches:
    """Those that would keep everybody else waiting."""
    found: PreparedBatches = {}
    replicas, by_id = context.parts.replicas, context.version >= TOPIC_IDS_FROM
    for topic in request.topic_data:
        if (topic.topic_id if by_id else topic.name) not in replicas.opening:
            continue
        for part in topic.partition_data:
            try:
                partition = (
                    replicas.partition_by_id(topic.topic_id, part.index)
                    if by_id
                    else replicas.partition(topic.name, part.index)
                )
            except BrokerError:
                continue  # the append will say so
            rules = partition.log.rules
            if rules.may_open and part.records is not None:
                records = cast(Buffer, part.records)
                if is_worth_a_thread(records, rules):
                    now_ms = context.parts.clock.now_ms()
                    found[id(part)] = Prepared(records, rules, context.version, now_ms)
    return found


async def prepare(batches: PreparedBatches) -> None:
    """One after the other: a request must not take all threads."""
    for prepared in batches.values():
        await asyncio.to_thread(prepared.run)
