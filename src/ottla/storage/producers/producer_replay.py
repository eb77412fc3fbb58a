"""Producer state of a log from its files: the newest usable snapshot, then the batches after it.

Owns      the snapshot files `<offset>.snapshot` of a partition directory.
Promises  the state that the live log had at that offset; a damaged snapshot is removed, and an
          older one or the records themselves take its place.
Leaves    the state to `producer_state.py`, the format to `producer_snapshot.py`.
"""

from __future__ import annotations

import logging
from bisect import bisect_left, insort
from collections.abc import Iterable, Iterator
from functools import partial
from typing import NamedTuple

from ottla.base.files.filesystem import File, FileSystem
from ottla.base.files.readers import BLOCKING, Reader
from ottla.base.memory.stored_errors import without_traceback
from ottla.protocol.records.batch import CONTROL_BIT, BatchHeader
from ottla.protocol.records.control import CONTROL_BYTES_MAX, EndMarker, read_end_marker
from ottla.storage.errors import CorruptLogError
from ottla.storage.files.file_names import DELETED_SUFFIX, SNAPSHOT_SUFFIX, segment_file_name
from ottla.storage.producers.producer_bound import ProducerBound
from ottla.storage.producers.producer_snapshot import (
    encode_snapshot,
    read_snapshot,
    write_encoded,
)
from ottla.storage.producers.producer_state import ProducerStates
from ottla.storage.segments.scanning import fetch_headers, scan_headers
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segment_search import find_batch
from ottla.storage.segments.segments import Segments

log = logging.getLogger(__name__)

# How far before a snapshot to read the batches that producers may send again. At most five batches
# of a producer are in flight, so earlier ones are rarely needed.
REFILL_BYTES = 1 << 20


class SnapshotFiles:
    def __init__(self, files: FileSystem, directory: str, offsets: Iterable[int] = ()) -> None:
        self.directory = directory
        self._files = files
        self._offsets = sorted(offsets)  # of all that are there

    def __contains__(self, offset: int) -> bool:
        at = bisect_left(self._offsets, offset)
        return at < len(self._offsets) and self._offsets[at] == offset

    @property
    def newest(self) -> int | None:
        return self._offsets[-1] if self._offsets else None

    def path(self, offset: int) -> str:
        return f"{self.directory}/{segment_file_name(offset, SNAPSHOT_SUFFIX)}"

    def offsets(self) -> list[int]:
        """The offsets of all snapshots, ascending."""
        return list(self._offsets)

    def write(self, states: ProducerStates, offset: int, *, sync: bool) -> None:
        self.write_encoded(encode_snapshot(states.producers), offset, sync=sync)

    def write_encoded(self, data: bytes, offset: int, *, sync: bool) -> None:
        if offset not in self:
            insort(self._offsets, offset)
        write_encoded(self._files, self.path(offset), data, sync=sync)

    def remove(self, offsets: Iterable[int]) -> None:
        for offset in set(offsets):
            if offset in self:
                self._offsets.remove(offset)
                try:
                    self._files.remove(self.path(offset))
                except FileNotFoundError:
                    pass

    def retire(self, offsets: Iterable[int]) -> list[str]:
        """Take them out of use under another name, and leave removing the paths to the caller.

        Removing one whose bytes are just being written waits for the disk; renaming does not.
        """
        paths = []
        for offset in set(offsets):
            if offset in self:
                self._offsets.remove(offset)
                path = self.path(offset)
                try:
                    self._files.rename(path, path + DELETED_SUFFIX)
                except FileNotFoundError:
                    continue
                paths.append(path + DELETED_SUFFIX)
        return paths

    def remove_strays(self, base_offsets: Iterable[int]) -> None:
        """Keep one snapshot for each segment, which recovery may need, and the newest."""
        kept = {*base_offsets, self.newest}
        self.remove(offset for offset in self.offsets() if offset not in kept)

    def load_newest(
        self, reader: Reader, segments: Segments, end_offset: int
    ) -> ProducerStates | None:
        """The state at the newest usable snapshot up to `end_offset`."""
        for offset in reversed([each for each in self.offsets() if each <= end_offset]):
            path, before = self.path(offset), ranges_before(reader, segments, offset)
            work = partial(_load, self._files, path, offset, before)
            loaded = reader.compute(path, 0, offset, work)
            if isinstance(loaded, ProducerStates):
                return loaded
            log.warning("removing a damaged snapshot: %s", loaded)
            self.remove([offset])
        return None


class HeaderRange(NamedTuple):
    """Batches of one file, as positions."""

    file: File
    start: int
    end: int


def _load(
    files: FileSystem, path: str, offset: int, before: list[HeaderRange]
) -> ProducerStates | Exception:
    """The state of a snapshot, or what is wrong with it. May be called in any thread."""
    states = ProducerStates(offset)
    try:
        states.load(read_snapshot(files, path).items(), offset)
    except (CorruptLogError, FileNotFoundError) as error:
        return without_traceback(error)
    if states.count:
        states.refill_windows(headers_in(before))
    return states


def headers_in(ranges: Iterable[HeaderRange]) -> Iterator[BatchHeader]:
    """Runs in a thread."""
    for each in ranges:
        for _, header in scan_headers(BLOCKING, *each):
            yield header


def load_states(
    reader: Reader,
    snapshots: SnapshotFiles,
    segments: Segments,
    end_offset: int,
    bound: ProducerBound,
) -> ProducerStates:
    """The producers of the log up to `end_offset`, also those of records that readers no longer
    see because the start of the log has passed them; no more than a partition may have."""
    states = snapshots.load_newest(reader, segments, end_offset)
    if states is None:
        states = ProducerStates(segments[0].base_offset)
    states.bound = bound.of_one_partition()
    states.bound.producers_read(states)  # the snapshot may be of a time with another bound
    replay(reader, states, segments, end_offset)
    return states


def replay(reader: Reader, states: ProducerStates, segments: Segments, end_offset: int) -> None:
    """Apply the batches from the state's end up to `end_offset`."""
    for segment in segments.reaching(states.end_offset):
        if segment.base_offset >= end_offset:
            break  # it may not be checked yet, so it is not read
        found = find_batch(reader, segment, max(states.end_offset, segment.base_offset))
        if found is None:
            continue
        for position, header in _headers(reader, segment, found[0], segment.size):
            if header.base_offset >= end_offset:
                break
            if header.base_offset >= states.end_offset:
                marker = marker_at(reader, segment.open(reader), position, header)
                states.apply(header, marker)
    states.end_offset = end_offset


def marker_at(reader: Reader, file: File, position: int, header: BatchHeader) -> EndMarker | None:
    """The marker of a control batch in a file; None for any other batch."""
    if not header.attributes & CONTROL_BIT:
        return None
    size = header.size_bytes
    if size > CONTROL_BYTES_MAX:
        raise CorruptLogError(file.path, position, f"a control batch of {size} bytes")
    return read_end_marker(reader.read(file, position, size))


def ranges_before(reader: Reader, segments: Segments, offset: int) -> list[HeaderRange]:
    """Where the last batches before `offset` are, in the order of the log."""
    before = [segment for segment in segments if segment.base_offset < offset]
    wanted: list[HeaderRange] = []
    size = 0
    for segment in reversed(before):
        end = segment.size
        if segment is before[-1]:
            found = find_batch(reader, segment, offset)
            end = segment.size if found is None else found[0]
        start = _start_before(reader, segment, end, REFILL_BYTES - size)
        wanted.append(HeaderRange(segment.open(reader), start, end))
        size += end
        if size >= REFILL_BYTES:
            break
    return wanted[::-1]


def _headers(
    reader: Reader, segment: Segment, start: int, end: int
) -> Iterator[tuple[int, BatchHeader]]:
    """There may be many."""
    file = segment.open(reader)
    reader.prefetch(file.path, start, end, lambda: fetch_headers(file, start, end))
    return scan_headers(reader, file, start, end)


def _start_before(reader: Reader, segment: Segment, end: int, size: int) -> int:
    """Where the batches begin that make up about the last `size` bytes before `end`."""
    if end <= size:
        return 0
    entry = segment.indexes.offsets.first_from_position(reader, end - size)
    return end if entry is None or entry.position > end else entry.position
