"""What a follower does when the leader's log does not have the offset at which its own log ends.

The leader has deleted records that the follower lacks, or its log ends before the follower's: after
an unclean election, or if records were lost. The follower then begins at the leader's log start, or
ends where the leader does.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable, Callable
from typing import Any

from ottla.base.scheduling.steps import Driver, Steps
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.message import Message
from ottla.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ottla.replication.partition import Partition

log = logging.getLogger(__name__)

EARLIEST, LATEST = -2, -1


async def restart_log(
    partition: Partition,
    broker_id: int,
    request: Callable[[Message], Awaitable[Any]],
    driver: Driver,
) -> None:
    """BrokerError or ChannelError if the leader does not answer, or is not the leader any more."""
    epoch = partition.leader_epoch
    leader_end = await _ask(partition, LATEST, broker_id, request)
    leader_start = await _ask(partition, EARLIEST, broker_id, request)
    await driver.run(_restarting(partition, epoch, leader_start, leader_end))


def _restarting(
    partition: Partition, epoch: int, leader_start: int, leader_end: int
) -> Steps[None]:
    # Here, not before: the first step may be run much later.
    if partition.leader_epoch != epoch or partition.is_leader or partition.is_truncating:
        return
    end_offset = partition.log.log_end_offset
    if leader_end < end_offset:
        log.warning(
            "%s: records from offset %d to %d are removed: the leader does not have them",
            partition.name,
            leader_end,
            end_offset,
        )
        yield from partition.truncating(_discarding(partition, leader_end))
    elif leader_start > end_offset:
        log.info("%s: continues at the leader's log start, %d", partition.name, leader_start)
        partition.log.truncate_fully_and_start_at(leader_start)


def _discarding(partition: Partition, offset: int) -> Steps[None]:
    yield from partition.log.truncating_to(offset)


async def _ask(
    partition: Partition,
    timestamp: int,
    broker_id: int,
    request: Callable[[Message], Awaitable[Any]],
) -> int:
    name = partition.name
    asked = ListOffsetsPartition(name.partition, partition.leader_epoch, timestamp)
    response = await request(
        ListOffsetsRequest(broker_id, topics=[ListOffsetsTopic(name.topic, [asked])])
    )
    for topic in response.topics:
        for answer in topic.partitions:
            if answer.error_code != ErrorCode.NONE:
                raise BrokerError(ErrorCode(answer.error_code), "the leader answered ListOffsets")
            offset: int = answer.offset
            return offset
    raise BrokerError(ErrorCode.UNKNOWN_SERVER_ERROR, "the leader's answer is empty")
