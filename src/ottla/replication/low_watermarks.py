"""The low watermark of partitions that this broker leads: the least log start of living replicas.

Owns      the requests that wait until all living replicas have deleted the records before an
          offset.
Promises  a waiter is called when the last replica has reported its log start, when those that have
          not are not alive any more, or when another broker leads the partition.
Leaves    deadlines to the handlers, sending a new log start to followers to `partition.py`.
"""

from __future__ import annotations

from collections.abc import Callable

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.offset_waiters import Done, OffsetWaiter, OffsetWaiters
from ottla.replication.partition import Partition


class LowWatermarks:
    def __init__(self, is_alive: Callable[[int], bool]) -> None:
        self._is_alive = is_alive
        self._waiting: dict[Partition, OffsetWaiters] = {}

    def of(self, partition: Partition) -> int:
        """BrokerError if this broker does not lead the partition."""
        state = partition.leader_state
        if state is None:
            raise BrokerError(ErrorCode.NOT_LEADER_OR_FOLLOWER)
        return state.low_watermark(partition.log.offsets.start, self._is_alive)

    def wait(self, partition: Partition, offset: int, done: Done) -> OffsetWaiter:
        """Call `done` when the low watermark has reached the offset, or this broker leads no more.
        A caller that no longer waits calls `stop_waiting` with the result."""
        waiting = self._waiting.get(partition)
        if waiting is None:
            waiting = self._waiting[partition] = OffsetWaiters()
        waiter = waiting.add(offset, done)
        self.changed(partition)
        return waiter

    def stop_waiting(self, partition: Partition, waiter: OffsetWaiter) -> None:
        waiting = self._waiting.get(partition)
        if waiting is not None:
            waiting.remove(waiter)
            self._forget_if_empty(partition, waiting)

    def changed(self, partition: Partition) -> None:
        """A replica has reported its log start, or the replicas or the leader are others."""
        waiting = self._waiting.get(partition)
        if waiting is None:
            return
        try:
            waiting.reached(self.of(partition))
        except BrokerError as error:
            waiting.fail(error)
        self._forget_if_empty(partition, waiting)

    def brokers_changed(self) -> None:
        """Stop waiting for brokers that have ended."""
        for partition in list(self._waiting):
            self.changed(partition)

    def _forget_if_empty(self, partition: Partition, waiting: OffsetWaiters) -> None:
        if not waiting and self._waiting.get(partition) is waiting:
            del self._waiting[partition]

    def __len__(self) -> int:
        """Partitions that are waited for."""
        return len(self._waiting)
