"""Marks in log directories follow the metadata, also where it grows while they are written."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine
from contextlib import suppress
from random import Random
from typing import Any

import pytest
from tests.unit.broker.test_lost_metadata import Life, live

from ottla.base.files.filesystem import FileSystem
from ottla.broker.control.embedded import EmbeddedControl
from ottla.storage.directories import directory_ownership
from ottla.storage.files.cluster_mark import ClusterMark, read_cluster_mark, write_cluster_mark
from ottla.testing.filesystem import MemoryDisk

SHORT_S = 0.3
PATHS = ("/disk/a", "/disk/b")


def end_offset(life: Life) -> int:
    control = life.broker.control
    assert isinstance(control, EmbeddedControl)
    return control.metadata_log.end_offset


def marked(life: Life) -> list[int]:
    """The offset that each directory has noted."""
    marks = [read_cluster_mark(life.disk, f"{path}/ottla.properties") for path in PATHS]
    return [-1 if mark is None else mark.metadata_offset for mark in marks]


def grown(life: Life, story: Callable[[], Coroutine[Any, Any, None]]) -> Callable[..., None]:
    """Writes a mark, and lets the metadata grow while that is under way, in a thread."""
    loop = asyncio.get_running_loop()

    def write(files: FileSystem, path: str, mark: ClusterMark) -> None:
        asyncio.run_coroutine_threadsafe(story(), loop).result()
        assert mark.metadata_offset <= end_offset(life)
        write_cluster_mark(files, path, mark)

    return write


@pytest.mark.parametrize("seed", range(4))
def test_the_mark_reaches_the_metadata_whenever_that_grows(
    seed: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    rng, names = Random(seed), iter(range(1000))

    async def story(life: Life) -> None:
        async def grow() -> None:
            if rng.random() < 0.5:
                await life.create(f"t{next(names)}", 1)

        with monkeypatch.context() as patch:
            patch.setattr(directory_ownership, "write_cluster_mark", grown(life, grow))
            for _ in range(5):
                await grow()
                await life.broker.marks.write()
        await life.broker.marks.write()
        assert marked(life) == [end_offset(life)] * 2

    live(MemoryDisk(), story)


def test_a_mark_at_shutdown_waits_for_one_that_a_cancelled_task_has_begun(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    meeting, begun, met = threading.Barrier(2), threading.Event(), list[str]()

    def write(files: FileSystem, path: str, mark: ClusterMark) -> None:
        begun.set()
        with suppress(threading.BrokenBarrierError):
            meeting.wait(SHORT_S)
            met.append(path)
        write_cluster_mark(files, path, mark)

    async def story(life: Life) -> None:
        await life.create("t", 1)
        with monkeypatch.context() as patch:
            patch.setattr(directory_ownership, "write_cluster_mark", write)
            writing = asyncio.create_task(life.broker.marks.write())
            await asyncio.to_thread(begun.wait)
            writing.cancel()
            await asyncio.to_thread(life.broker.marks.close)
        assert met == []
        assert marked(life) == [end_offset(life)] * 2

    live(MemoryDisk(), story)
