"""The metadata log of a single broker: files in one directory, no other service.

Promises  the contract of `MetadataLog`. File operations are run by `run_job`, one at a time; if a
          caller is cancelled, its operation completes, and the next one waits for it. Any exception
          while writing a batch, including a bug or MemoryError, raises AppendFailed: only `load`
          can then determine the content of the files.
Leaves    the files to `journal.py`.
"""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Callable
from contextlib import suppress
from typing import Any, TypeVar

from ottla.base.files.filesystem import FileSystem
from ottla.base.scheduling.threads import RunJob
from ottla.metadata.continuity import KnownState
from ottla.metadata.image import Batch, Image
from ottla.metadata.journal import (
    JOURNAL_BYTES_MAX,
    Journal,
    open_journal,
    remove_older,
    write_snapshot,
)
from ottla.metadata.log import AppendFailed, AppendRefused, MetadataLogFull, MetadataLost, Trimmed
from ottla.metadata.snapshot_encoding import encode_snapshot
from ottla.storage.files.directory_health import is_out_of_descriptors

T = TypeVar("T")
log = logging.getLogger(__name__)


class FileMetadataLog:
    def __init__(self, files: FileSystem, directory: str, run_job: RunJob) -> None:
        self._files = files
        self._directory = directory
        self._run_job = run_job
        self._journal: Journal | None = None  # None before `load` and after a failure
        self._end_offset = 0
        self._lock = asyncio.Lock()
        self._unfinished: asyncio.Future[Any] | None = None
        self._appended = asyncio.Event()

    @property
    def end_offset(self) -> int:
        return self._end_offset

    @property
    def location(self) -> str:
        return self._directory

    async def load(self, known: KnownState) -> Image:
        async with self._lock:
            await self._settle()
            if self._journal is not None:
                self._journal.close(is_clean=False)
                self._journal = None
            journal, image = await self._work(
                lambda: open_journal(self._files, self._directory, known)
            )
            self._journal = journal
            self._moved_to(image.offset)
            return image

    async def check(self) -> None:
        async with self._lock:
            journal = self._journal
            if journal is None:
                return  # an append failed: the log will be loaded again and compared
            try:
                await self._work(journal.check)
            except OSError as error:
                if not is_out_of_descriptors(error):
                    self._journal = None
                    _abandon(journal)
                    raise MetadataLost(self.location, str(error)) from error

    async def append(self, batch: Batch) -> None:
        async with self._lock:
            journal = self._usable()
            if batch.base_offset != self._end_offset or not batch.records:
                count, at = len(batch.records), batch.base_offset
                raise AppendRefused(f"{count} records at {at}, but {self._end_offset} comes next")
            await self._change(journal, lambda: journal.append(batch))
            self._moved_to(batch.end_offset)

    async def confirm(self) -> None:
        """Nothing to do: the lock of the directory excludes other controllers."""

    async def read(self, offset: int) -> list[Batch]:
        async with self._lock:
            journal = self._usable()
            batches = await self._work(lambda: journal.read(offset))
        if batches is None:
            raise Trimmed(f"offset {offset} is only in the snapshot")
        return batches

    async def wait_beyond(self, offset: int) -> None:
        while self._end_offset <= offset:
            await self._appended.wait()

    @property
    def wants_snapshot(self) -> bool:
        return self._journal is not None and self._journal.size_bytes > JOURNAL_BYTES_MAX

    async def write_snapshot(self, image: Image) -> None:
        async with self._lock:
            journal = self._usable()
            if image.offset != self._end_offset:
                raise ValueError(
                    f"an image at {image.offset}, but the log ends at {self._end_offset}"
                )
            # The original changes while the copy is written. A thread frees it as well.
            copied = await self._work(lambda: [image.copy()])
            offset = image.offset
            await self._change(journal, journal.begin_next)
        frame = await self._run_job(lambda: encode_snapshot(copied.pop()))
        async with self._lock:
            journal = self._usable()
            await self._work(lambda: self._replace_older(journal, frame, offset))

    async def _change(self, journal: Journal, change: Callable[[], None]) -> None:
        self._journal = None  # until the operation has succeeded
        try:
            await self._work(change)
        except MetadataLogFull:
            self._journal = journal
            raise
        except OSError as error:
            _abandon(journal)
            raise AppendFailed(str(error)) from error
        except Exception as error:
            log.exception("bug while writing the metadata log")
            _abandon(journal)
            raise AppendFailed(repr(error)) from error
        self._journal = journal

    def _replace_older(self, journal: Journal, frame: bytes, offset: int) -> None:
        journal.check()  # do not remove files of a directory that replaced ours
        write_snapshot(self._files, self._directory, frame, offset)
        remove_older(self._files, self._directory, offset)

    async def close(self) -> None:
        async with self._lock:
            await self._settle()
            journal, self._journal = self._journal, None
            if journal is not None:
                try:
                    await self._work(lambda: journal.close(is_clean=True))
                except OSError as error:
                    if error.errno == errno.ESTALE:
                        raise MetadataLost(self.location, str(error)) from error
                    raise

    def _usable(self) -> Journal:
        if self._journal is None:
            raise AppendFailed("the log was not loaded, or failed since")
        return self._journal

    def _moved_to(self, end_offset: int) -> None:
        self._end_offset = end_offset
        self._appended.set()
        self._appended = asyncio.Event()

    async def _work(self, work: Callable[[], T]) -> T:
        """Run to completion even if the caller is cancelled: a partial write would be worse."""
        await self._settle()
        future: asyncio.Future[T] = asyncio.ensure_future(self._run_job(work))
        self._unfinished = future
        return await asyncio.shield(future)

    async def _settle(self) -> None:
        """Wait for an operation whose caller was cancelled."""
        if self._unfinished is not None:
            if not self._unfinished.done():
                await asyncio.wait([self._unfinished])
            self._unfinished.exception()  # retrieved by the caller, or the caller was cancelled
            self._unfinished = None


def _abandon(journal: Journal) -> None:
    with suppress(OSError):
        journal.close(is_clean=False)
