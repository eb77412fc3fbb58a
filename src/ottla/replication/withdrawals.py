"""Replicas without space on disk leave the in-sync replicas, and the others continue.

Owns      which replicas could not write, and the request to the controller: one at a time, with all
          of them.
Promises  a replica stays if no other one is in sync: then its partition can be read, and is written
          to again when there is room.
Leaves    the decision to the controller, which elects another leader if this broker led. The result
          arrives with the metadata. A replica is in sync again when it has copied what it lacks
          (`docs/decisions/0016`).
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping
from typing import NamedTuple

from ottla.base.clock import Clock
from ottla.base.ids import TopicId
from ottla.base.log_messages.sparse_log import SparseLog
from ottla.metadata.records import RECOVERED
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.alter_partition_request import BrokerState, PartitionData, TopicData
from ottla.replication.leadership import Leadership

log = logging.getLogger(__name__)

PAUSE_S = 0.1  # between requests: what still cannot write reports it again
# A replica that has left is in sync again if nothing was written since. Where all disks are full,
# leaders must not change with every record that is refused.
AGAIN_S = 1.0
AGAIN_S_MAX = 30.0

Withdrawing = Mapping[tuple[TopicId, int], Leadership]


class Withdrawal(NamedTuple):
    at_s: float
    pause_s: float  # before the next one of the same replica

    def is_recent(self, now_s: float) -> bool:
        return now_s < self.at_s + 2 * AGAIN_S_MAX


class Withdrawals:
    def __init__(
        self, broker_id: int, send: Callable[[list[TopicData]], Awaitable[object]], clock: Clock
    ) -> None:
        self._broker_id = broker_id
        self._send = send
        self._clock = clock
        self._due: dict[tuple[TopicId, int], Leadership] = {}
        self._last: dict[tuple[TopicId, int], Withdrawal] = {}
        self._has_due = asyncio.Event()
        self._messages = SparseLog(log, logging.WARNING)
        self._failures = SparseLog(log, logging.WARNING)

    def out_of_resources(self, topic_id: TopicId, index: int, state: Leadership) -> None:
        """The replica of this broker could not write. `state` is what the metadata says."""
        key = (topic_id, index)
        if set(state.in_sync_replicas) > {self._broker_id} and self._is_time(key):
            self._due[key] = state
            self._has_due.set()

    def _is_time(self, key: tuple[TopicId, int]) -> bool:
        last = self._last.get(key)
        return last is None or self._clock.monotonic_s() >= last.at_s + last.pause_s

    async def run(self) -> None:
        """Run until cancelled."""
        while True:
            await self._has_due.wait()
            self._has_due.clear()
            due, self._due = self._due, {}
            await self._withdraw(due)
            await asyncio.sleep(PAUSE_S)

    async def _withdraw(self, due: Withdrawing) -> None:
        now_s = self._clock.monotonic_s()
        self._note(due, now_s)
        self._messages.write(now_s, "no room on disk: %d replicas leave the in-sync ones", len(due))
        try:
            await self._send(withdrawals_of(self._broker_id, due))
        except BrokerError as error:
            what = "%d replicas without room on disk are still in sync: %s"
            self._failures.write(now_s, what, len(due), error)

    def _note(self, due: Withdrawing, now_s: float) -> None:
        is_recent = {key: each for key, each in self._last.items() if each.is_recent(now_s)}
        pauses = {key: 2 * is_recent[key].pause_s if key in is_recent else AGAIN_S for key in due}
        self._last = is_recent | {
            key: Withdrawal(now_s, min(pause_s, AGAIN_S_MAX)) for key, pause_s in pauses.items()
        }


def withdrawals_of(broker_id: int, due: Withdrawing) -> list[TopicData]:
    topics: dict[bytes, list[PartitionData]] = {}
    for (topic_id, index), state in due.items():
        others = [BrokerState(each) for each in state.in_sync_replicas if each != broker_id]
        topics.setdefault(topic_id, []).append(
            PartitionData(index, state.leader_epoch, (), others, RECOVERED, state.partition_epoch)
        )
    return [TopicData(topic_id, partitions) for topic_id, partitions in topics.items()]
