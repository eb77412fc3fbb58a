"""What must be true of one partition, whatever happens to its brokers.

Owns      the records that were committed: below a high watermark that any leader has shown.
Promises  after each step: committed records are on every later leader, and on every follower below
          its own high watermark, at the same offsets with the same bytes; what was acknowledged is
          committed; the high watermark of a leader that has caught up is not lower than any before.
"""

from __future__ import annotations

from collections.abc import Iterable

from tests.simulation.partitions.replica import Replica, Violation
from tests.unit.storage.log_making import batch_of

from ottla.metadata.entities import PartitionRegistration

VALUE_DIGITS = 8


def batch_numbered(number: int) -> bytearray:
    """One record. All batches have the same size, so that offsets are positions."""
    return batch_of(b"%0*d" % (VALUE_DIGITS, number))


SIZE = len(batch_numbered(0))


class Judge:
    def __init__(self) -> None:
        self.committed = bytearray()
        self.acknowledged: dict[int, int] = {}  # offsets, and the numbers of records
        self._unchecked: list[int] = []
        self._seen: dict[tuple[int, int], tuple[object, ...]] = {}  # by process

    def acknowledge(self, offset: int, number: int) -> None:
        self.acknowledged[offset] = number
        self._unchecked.append(offset)

    def check(self, replicas: Iterable[Replica], decided: PartitionRegistration) -> None:
        for replica in replicas:
            if replica.partition is not None:
                self._check_changed(replica, decided)
        for offset in self._unchecked:
            self._check_acknowledged(offset)
        self._unchecked.clear()

    def _check_changed(self, replica: Replica, decided: PartitionRegistration) -> None:
        partition = replica.leading
        offsets = partition.log.offsets
        key = (replica.broker_id, replica.number)
        state = (
            partition.leader_state,
            offsets.high_watermark,
            offsets.truncations,
            partition.leader_epoch == decided.leader_epoch,
        )
        if self._seen.get(key) == state:
            return
        self._seen[key] = state
        self._check_content(replica, is_current=partition.leader_epoch == decided.leader_epoch)

    def _check_content(self, replica: Replica, *, is_current: bool) -> None:
        partition, content = replica.leading, replica.content()
        shown = partition.log.high_watermark * SIZE
        if len(content) != partition.log.log_end_offset * SIZE:
            raise Violation(f"{replica.broker_id} has {len(content)} bytes: {partition.log}")
        if replica.is_leader and is_current:
            self._compare(replica, content, len(self.committed))
            if partition.has_caught_up and shown < len(self.committed):
                raise Violation(
                    f"the high watermark of {replica.broker_id} is {shown // SIZE}, and "
                    f"{len(self.committed) // SIZE} was shown before"
                )
        self._compare(replica, content, min(shown, len(self.committed)))
        if replica.is_leader:
            self.committed += content[len(self.committed) : shown]

    def _compare(self, replica: Replica, content: bytes, size: int) -> None:
        if content[:size] == self.committed[:size]:
            return
        for position in range(0, size, SIZE):
            own = content[position : position + SIZE]
            if own != self.committed[position : position + SIZE]:
                what = "other bytes" if own else "nothing"
                raise Violation(
                    f"{replica.broker_id} has {what} at offset {position // SIZE}, where a record "
                    "was committed"
                )

    def _check_acknowledged(self, offset: int) -> None:
        number = self.acknowledged[offset]
        found = self.committed[offset * SIZE : (offset + 1) * SIZE]
        if b"%0*d" % (VALUE_DIGITS, number) not in found:
            what = "another one is committed there" if found else "it is not committed"
            raise Violation(f"record {number} was acknowledged at offset {offset}, but {what}")

    def check_the_end(self, replicas: Iterable[Replica], decided: PartitionRegistration) -> None:
        """Once all faults are over and all replicas are in sync."""
        leader = next(each for each in replicas if each.broker_id == decided.leader)
        expected = leader.content()
        for replica in replicas:
            if replica.content() != expected:
                raise Violation(f"{replica.broker_id} and {leader.broker_id} have different logs")
        self._compare(leader, expected, len(self.committed))
        for offset in self.acknowledged:
            self._check_acknowledged(offset)
