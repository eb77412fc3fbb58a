"""Whether enough was appended to the metadata log since the last snapshot for another one."""

from __future__ import annotations

from ottla.metadata.zookeeper.log_comparison import list_batches
from ottla.metadata.zookeeper.service import ZooKeeperService
from ottla.metadata.zookeeper.snapshots import Snapshots

SNAPSHOT_BATCHES = 1000
SNAPSHOT_RECORDS = 20_000  # a restart applies them in a fraction of a second
SNAPSHOT_BYTES = 8 * 1024 * 1024


class SnapshotNeed:
    def __init__(self, batches_max: int, records_max: int) -> None:
        self._batches_max = batches_max
        self._records_max = records_max
        self._offset = 0  # of the last snapshot
        self._batches = 0  # since then
        self._bytes = 0

    async def measure(self, service: ZooKeeperService, snapshots: Snapshots) -> None:
        """How much others have appended since the last snapshot."""
        pointer = await snapshots.pointer()
        self._offset = 0 if pointer is None else pointer.offset
        offsets = await list_batches(service) or []
        self._batches = sum(each >= self._offset for each in offsets)
        self._bytes = 0

    def note_batch(self, size: int) -> None:
        self._batches += 1
        self._bytes += size

    def note_snapshot(self, offset: int) -> None:
        self._offset = offset
        self._batches = self._bytes = 0

    def is_met(self, end_offset: int) -> bool:
        return (
            self._batches >= self._batches_max
            or end_offset - self._offset >= self._records_max
            or self._bytes >= SNAPSHOT_BYTES
        )
