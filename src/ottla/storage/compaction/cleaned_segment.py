"""The new segment that replaces a group of old ones, under `.cleaned` names.

Owns      collecting batches into large writes, and the new segment's indexes.
Promises  after `finish` records and indexes are synced, and so are their names; before,
          nothing refers to them, and recovery removes them.
Leaves    replacing the old segments to the log.
"""

from __future__ import annotations

from dataclasses import replace
from random import Random

from ottla.base.files.filesystem import Buffer, FileSystem
from ottla.config.topic_options import TopicConfig
from ottla.protocol.records.batch import BatchHeader, read_header
from ottla.storage.files.file_names import CLEANED_SUFFIX
from ottla.storage.indexes.transaction_index import AbortedTransaction
from ottla.storage.segments.segment_files import create_segment


class CleanedSegment:
    def __init__(
        self,
        files: FileSystem,
        directory: str,
        base_offset: int,
        config: TopicConfig,
        now_ms: int,
        write_bytes: int,
    ) -> None:
        self._files = files
        self._directory = directory
        self._write_bytes = write_bytes
        self._segment = create_segment(
            files,
            directory,
            base_offset,
            replace(config, preallocate=False),
            now_ms=now_ms,
            random=Random(0),  # only for the jitter of rolling, which a closed segment never does
            state=CLEANED_SUFFIX,
        )
        self._pending = bytearray()
        self._headers: list[BatchHeader] = []
        self.records_count = 0

    @property
    def base_offset(self) -> int:
        return self._segment.base_offset

    def append(self, batch: Buffer) -> int:
        """Add a batch; how many bytes this sent to disk."""
        header = read_header(batch)
        self._headers.append(header)
        self.records_count += header.records_count
        self._pending += batch
        return self._write() if len(self._pending) >= self._write_bytes else 0

    def append_aborted(self, transaction: AbortedTransaction) -> None:
        self._segment.indexes.transactions.append(transaction)

    def finish(self) -> int:
        """Make everything durable; how many bytes the last write had."""
        written = self._write()
        self._segment.seal()
        self._segment.sync()
        self._segment.close()
        self._files.sync_directory(self._directory)
        return written

    def discard(self) -> None:
        """Remove the files, as far as they exist."""
        self._segment.close()
        for path in self._segment.paths():
            if self._files.exists(path):
                self._files.remove(path)

    def _write(self) -> int:
        if not self._pending:
            return 0
        position = self._segment.write(self._pending)
        for header in self._headers:
            self._segment.note(position, header)
            position += header.size_bytes
        written = len(self._pending)
        self._pending = bytearray()
        self._headers.clear()
        return written
