"""A copy of the decisions topic in memory, updated with the record batches of its log.

Owns      which records are valid: those outside transactions, and those of committed ones.
Promises  the last valid record of each key, however the log is divided into fetches.

Sinks share the partition. A driver that dies while it writes a decision leaves its transaction
open, and later decisions of other sinks must be visible nevertheless. So the log is read beyond the
last stable offset, and records of open transactions are kept apart until their marker arrives.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ottla.protocol.records.batch import BatchHeader, Buffer, iterate_headers
from ottla.protocol.records.control import read_end_marker
from ottla.protocol.records.reading import iterate_records
from ottla.spark.sink.decisions import DecisionReader


class Entry(NamedTuple):
    offset: int
    key: bytes
    value: bytes | None


class DecisionCopy:
    def __init__(self, topic_id: bytes, start_offset: int) -> None:
        self.topic_id = topic_id
        self.next_offset = start_offset
        self.reader = DecisionReader()
        self._open: dict[int, list[Entry]] = {}  # by producer id, during one read
        self._applied: dict[bytes, int] = {}  # the offset of each key's last valid record

    def add(self, data: Buffer) -> None:
        """The next batches; the first may begin before `next_offset`."""
        for position, header in iterate_headers(data):
            if header.last_offset < self.next_offset:
                continue
            if header.is_control:
                self._end(data, position, header)
            elif header.is_transactional:
                self._open.setdefault(header.producer_id, []).extend(_entries(data, position))
            else:
                self._apply(_entries(data, position))
            self.next_offset = header.next_offset

    def _end(self, data: Buffer, position: int, header: BatchHeader) -> None:
        marker = read_end_marker(data, position)
        if marker is None:
            return
        ended = self._open.pop(header.producer_id, [])
        if marker.is_commit:
            self._apply(ended)

    def settle(self, stable_offset: int, end_offset: int) -> None:
        """Everything up to `end_offset` has been added. A transaction before the last stable offset
        whose marker was removed was committed: compaction removes aborted records before markers.

        Records of open transactions are read again next time. They may be aborted and removed by
        then, and their marker with them.
        """
        self.next_offset = max(self.next_offset, end_offset)
        for entries in filter(None, self._open.values()):
            if entries[-1].offset < stable_offset:
                self._apply(entries)
            else:
                self.next_offset = min(self.next_offset, entries[0].offset)
        self._open.clear()

    def _apply(self, entries: Iterator[Entry] | list[Entry]) -> None:
        for entry in entries:
            # The marker of a transaction may follow a later record of the same key.
            if entry.offset > self._applied.get(entry.key, -1):
                self._applied[entry.key] = entry.offset
                self.reader.apply(entry.key, entry.value)


def _entries(data: Buffer, position: int) -> Iterator[Entry]:
    for record in iterate_records(data, position):
        if record.key is not None:
            yield Entry(record.offset, record.key, record.value)
