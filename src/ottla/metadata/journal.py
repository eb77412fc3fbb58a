"""The files of a metadata log: journals of batches, and snapshots that replace older journals.

Owns      one directory: `<offset>.journal` contains batches from that offset on,
          `<offset>.snapshot` the image at that offset, `clean` the end offset after a clean
          shutdown.
Promises  a batch is durable when `append` returns. After a crash at any point, `open` finds every
          such batch, and the batch that was being written either completely or not at all. What it
          finds is durable too, even if an earlier sync failed: after an unclean shutdown it is
          rewritten. Damage anywhere except in the batch that was being written raises
          CorruptMetadataError. Nothing is changed before the content is compared with the known
          state, and an append fails if the file was removed, replaced or truncated by another
          process.
Leaves    threads to `file_log.py`.
Threads   one at a time.

A snapshot is written in three steps, and a crash may occur after each: a new journal is started,
the snapshot is renamed once it is complete, then older files are removed.
"""

from __future__ import annotations

import errno
import json
import re
from itertools import zip_longest
from typing import NamedTuple

from ottla.base.files.filesystem import (
    File,
    FileSystem,
    make_durable_directory,
    read_file,
    replace_file,
)
from ottla.metadata.continuity import KnownState
from ottla.metadata.frame import (
    BATCH,
    SNAPSHOT,
    BadFrame,
    NewerFrame,
    UnreadableFrame,
    decode_frame,
    encode_frame,
    has_whole_frame,
)
from ottla.metadata.image import Batch, Image
from ottla.metadata.log import CorruptMetadataError, MetadataLogFull, NewerMetadata
from ottla.metadata.topic_table import ImageError
from ottla.storage.files.directory_health import is_full

CLEAN = "clean"
JOURNAL_BYTES_MAX = 4 * 1024 * 1024  # a larger one is replaced by a snapshot, to keep starts fast
_NAME = re.compile(r"(\d{20})\.(journal|snapshot)")


class Journal:
    """Created by `open_journal`. After any error except MetadataLogFull it can only be closed."""

    def __init__(self, files: FileSystem, directory: str, file: File, end_offset: int) -> None:
        self._files = files
        self._directory = directory
        self._file = file
        self._position = file.size()
        self.end_offset = end_offset

    @property
    def size_bytes(self) -> int:
        return self._position

    def append(self, batch: Batch) -> None:
        frame = encode_frame(BATCH, batch)
        self._check_size()
        self._write(frame)
        self._file.sync()
        self._position += len(frame)
        self.end_offset = batch.end_offset
        self._check_not_removed()  # writes to a removed file succeed, but are lost

    def _write(self, frame: bytes) -> None:
        try:
            self._file.write_at(self._position, frame)
        except OSError as error:
            if not is_full(error):
                raise
            self._file.truncate(self._position)  # part of it may have been written
            raise MetadataLogFull(str(error)) from error

    def check(self) -> None:
        """OSError with ESTALE if another process has removed, replaced or truncated the file."""
        self._check_not_removed()
        self._check_size()

    def _check_not_removed(self) -> None:
        if not self._file.is_in_place():
            raise OSError(
                errno.ESTALE,
                "the file was removed or replaced while it was in use",
                self._file.path,
            )

    def _check_size(self) -> None:
        if (size := self._file.size()) != self._position:
            what = f"the file has {size} bytes, but {self._position} were written"
            raise OSError(errno.ESTALE, what, self._file.path)

    def begin_next(self) -> None:
        """Start a new journal for the following batches."""
        self.check()
        self._file.close()
        self._file = _create_journal(self._files, self._directory, self.end_offset)
        self._position = 0

    def read(self, offset: int) -> list[Batch] | None:
        """The batches from `offset` on; None if some of them exist only in a snapshot."""
        journals = _journals(self._files, self._directory)
        if journals[0] > offset:
            return None
        begun = max(base for base in journals if base <= offset)
        batches: list[Batch] = []
        for base in (base for base in journals if base >= begun):
            path = _path(self._directory, base, "journal")
            batches += _read_batches(self._files, path, may_cut=False)[0]
        return [batch for batch in batches if batch.base_offset >= offset]

    def close(self, *, is_clean: bool) -> None:
        try:
            if is_clean:
                self.check()
        finally:
            self._file.close()
        if is_clean:
            content = json.dumps({"version": 0, "endOffset": self.end_offset})
            replace_file(self._files, f"{self._directory}/{CLEAN}", content.encode("ascii"))


class Torn(NamedTuple):
    """The end of a journal that was torn by a crash, and its position."""

    path: str
    position: int


def open_journal(files: FileSystem, directory: str, known: KnownState) -> tuple[Journal, Image]:
    """Load the files, repair the effects of a crash, and open the journal for appending.

    MetadataLost, without any change, unless the known state is contained.
    """
    clean_end, image, torn = _read_all(files, directory)
    known.check(image, directory)
    make_durable_directory(files, directory)
    _remove_unfinished(files, directory)
    if torn is not None:
        _cut(files, torn)
    if clean_end is None or _journal_bytes(files, directory) > JOURNAL_BYTES_MAX:
        write_snapshot(files, directory, encode_frame(SNAPSHOT, _snapshot_of(image)), image.offset)
        file = _create_journal(files, directory, image.offset)
        remove_older(files, directory, image.offset)
    else:
        file = files.open(_path(directory, _journals(files, directory)[-1], "journal"))
    if clean_end is not None:
        files.remove(f"{directory}/{CLEAN}")
        files.sync_directory(directory)
    return Journal(files, directory, file, image.offset), image


def write_snapshot(files: FileSystem, directory: str, frame: bytes, offset: int) -> None:
    """Renamed to its final name once it is complete; durable when this returns."""
    replace_file(files, _path(directory, offset, "snapshot"), frame)


def remove_older(files: FileSystem, directory: str, offset: int) -> None:
    """Remove the files that the snapshot at `offset` replaces."""
    for base, kind in _listed(files, directory):
        if base < offset:
            files.remove(_path(directory, base, "journal" if kind == BATCH else "snapshot"))
    files.sync_directory(directory)


def _snapshot_of(image: Image) -> Batch:
    return Batch(image.offset, image.controller_epoch, tuple(image.to_records()))


def _read_all(files: FileSystem, directory: str) -> tuple[int | None, Image, Torn | None]:
    """The clean-shutdown offset, the image, and a torn end. Changes nothing."""
    if not files.exists(directory):
        return None, Image(), None
    clean_end = _read_clean_end(files, directory)
    image, torn = _replay(files, directory, may_cut=clean_end is None)
    if clean_end is not None:
        _check_clean_end(files, directory, clean_end, image.offset)
    return clean_end, image, torn


def _replay(files: FileSystem, directory: str, *, may_cut: bool) -> tuple[Image, Torn | None]:
    """The image from snapshot and journals. Without `may_cut` every batch must be complete."""
    image = Image()
    torn: Torn | None = None
    snapshots = [base for base, kind in _listed(files, directory) if kind == SNAPSHOT]
    if snapshots:
        _load_snapshot(files, _path(directory, snapshots[-1], "snapshot"), snapshots[-1], image)
    journals = _journals(files, directory)
    for base, next_base in zip_longest(journals, journals[1:]):
        if next_base is not None and next_base <= image.offset:
            continue  # replaced by the snapshot, and about to be removed
        path = _path(directory, base, "journal")
        if base > image.offset:
            what = f"the offsets from {image.offset} to {base} are missing before it"
            raise CorruptMetadataError(path, 0, what)
        batches, torn = _read_batches(files, path, may_cut=may_cut and next_base is None)
        for batch in batches:
            if batch.end_offset > image.offset:
                _apply(image, batch, path)
    return image, torn


def _check_clean_end(files: FileSystem, directory: str, clean_end: int, end_offset: int) -> None:
    """More data than at the clean shutdown is not damage: then the marker is an older copy."""
    if clean_end > end_offset or not _journals(files, directory):
        what = f"it was closed at offset {clean_end}, but what is there ends at {end_offset}"
        raise CorruptMetadataError(f"{directory}/{CLEAN}", 0, what)


def _load_snapshot(files: FileSystem, path: str, offset: int, image: Image) -> None:
    data = memoryview(read_file(files, path))
    try:
        snapshot, end = decode_frame(SNAPSHOT, data)
        if end != len(data) or snapshot.base_offset != offset:
            raise BadFrame(f"a snapshot of {end} bytes at offset {snapshot.base_offset}")
        image.load(snapshot.records, offset, snapshot.controller_epoch)
    except NewerFrame as error:
        raise NewerMetadata(path, str(error)) from error
    except (BadFrame, ImageError) as error:
        raise CorruptMetadataError(path, 0, str(error)) from error


def _apply(image: Image, batch: Batch, path: str) -> None:
    try:
        image.apply(batch)
    except ImageError as error:
        what = f"batch at offset {batch.base_offset}: {error}"
        raise CorruptMetadataError(path, 0, what) from error


def _read_batches(
    files: FileSystem, path: str, *, may_cut: bool
) -> tuple[list[Batch], Torn | None]:
    """The batches of a journal. A torn batch is skipped if a crash can have caused it: only at
    the end, because each batch is durable before the next one is started."""
    data = memoryview(read_file(files, path))
    batches: list[Batch] = []
    position = 0
    while position < len(data):
        try:
            batch, size = decode_frame(BATCH, data[position:])
        except NewerFrame as error:
            raise NewerMetadata(path, str(error)) from error
        except BadFrame as error:
            is_whole = isinstance(error, UnreadableFrame)
            if not may_cut or is_whole or has_whole_frame(BATCH, data[position + 1 :]):
                raise CorruptMetadataError(path, position, str(error)) from error
            return batches, Torn(path, position)
        batches.append(batch)
        position += size
    return batches, None


def _cut(files: FileSystem, torn: Torn) -> None:
    file = files.open(torn.path)
    try:
        file.truncate(torn.position)
        file.sync()
    finally:
        file.close()


def _create_journal(files: FileSystem, directory: str, offset: int) -> File:
    file = files.open(_path(directory, offset, "journal"), create=True)
    file.truncate(0)
    file.sync()
    files.sync_directory(directory)
    return file


def _read_clean_end(files: FileSystem, directory: str) -> int | None:
    path = f"{directory}/{CLEAN}"
    try:
        content = read_file(files, path)
    except FileNotFoundError:
        return None
    try:
        end_offset = json.loads(content)["endOffset"]
    except (ValueError, KeyError, TypeError, RecursionError) as error:
        raise CorruptMetadataError(path, 0, f"no end offset: {error}") from error
    if type(end_offset) is not int:
        raise CorruptMetadataError(path, 0, "no end offset")
    return end_offset


def _remove_unfinished(files: FileSystem, directory: str) -> None:
    for name in files.list_directory(directory):
        if name.endswith(".tmp"):
            files.remove(f"{directory}/{name}")


def _listed(files: FileSystem, directory: str) -> list[tuple[int, bytes]]:
    """(offset, kind) of all journals and snapshots, sorted."""
    matches = (_NAME.fullmatch(name) for name in files.list_directory(directory))
    return sorted(
        (int(match[1]), BATCH if match[2] == "journal" else SNAPSHOT) for match in matches if match
    )


def _journals(files: FileSystem, directory: str) -> list[int]:
    return [base for base, kind in _listed(files, directory) if kind == BATCH]


def _journal_bytes(files: FileSystem, directory: str) -> int:
    journals = _journals(files, directory)
    return sum(files.size(_path(directory, base, "journal")) for base in journals)


def _path(directory: str, offset: int, kind: str) -> str:
    return f"{directory}/{offset:020}.{kind}"
