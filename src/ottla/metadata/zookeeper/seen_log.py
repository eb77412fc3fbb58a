"""What this broker has seen of the metadata log, and when ZooKeeper is compared with it.

Promises  after a lost connection, nothing is read from ZooKeeper or written to it before it was
          compared: MetadataLost if it lacks something. No ZooKeeper is replaced by another one
          without losing connections.
Leaves    the comparison to `log_comparison.py`.
"""

from __future__ import annotations

from ottla.metadata.zookeeper.log_comparison import SeenEnd, compare, find_fault, find_gap
from ottla.metadata.zookeeper.service import SessionState, ZooKeeperService
from ottla.metadata.zookeeper.snapshots import Snapshots


class SeenLog:
    def __init__(self, service: ZooKeeperService, snapshots: Snapshots) -> None:
        self._service = service
        self._snapshots = snapshots
        self._end = SeenEnd()  # of everything that was loaded, read or appended
        self._losses = 0
        self._compared = 0  # how many losses there were at the last comparison
        service.subscribe(self._note_session)

    def _note_session(self, state: SessionState) -> None:
        if state is not SessionState.CONNECTED:
            self._losses += 1

    @property
    def end(self) -> SeenEnd:
        return self._end

    @property
    def losses(self) -> int:
        """How many connections were lost: another ZooKeeper may answer since."""
        return self._losses

    @property
    def is_compared(self) -> bool:
        """Whether no connection was lost since the last comparison began."""
        return self._compared == self._losses

    def note(self, end: SeenEnd) -> None:
        if end.offset > self._end.offset:
            self._end = end

    async def compare_if_lost(self) -> None:
        """If a connection is lost meanwhile, the next call compares again: else nothing would be
        appended while connections are lost all the time."""
        if not self.is_compared:
            await self.compare()

    async def compare(self) -> None:
        losses = self._losses
        await compare(self._service, self._snapshots, self._end, find_fault)
        self._compared = losses

    async def find_gap(self) -> None:
        """MetadataLost if the next batch is missing, although later ones exist."""
        await compare(self._service, self._snapshots, self._end, find_gap)
