"""The znode that names the snapshot, after it was edited, and what is below the folders."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from tests.support.virtual_time import run_in_virtual_time
from tests.support.zookeeper_model import Ensemble, ModelService
from tests.unit.metadata.log_conformance import batch

from ottla.metadata.continuity import KnownState
from ottla.metadata.image import Image
from ottla.metadata.log import CorruptMetadataError, NewerMetadata
from ottla.metadata.zookeeper.election import elect
from ottla.metadata.zookeeper.layout import LOG, SNAPSHOT, SNAPSHOTS, batch_path, snapshot_folder
from ottla.metadata.zookeeper.service import Create, Write
from ottla.metadata.zookeeper.snapshots import SnapshotPointer
from ottla.metadata.zookeeper.zookeeper_log import ZooKeeperMetadataLog
from ottla.testing.clock import ManualClock

POINTER = SnapshotPointer(5, snapshot_folder(5, "nonce"), 1)


async def at_once(job: Callable[[], Any]) -> Any:
    return job()


def edited(**fields: Any) -> bytes:
    return json.dumps({**json.loads(POINTER.encode()), **fields}).encode()


def test_a_pointer_is_what_was_written() -> None:
    assert SnapshotPointer.decode(POINTER.encode()) == POINTER
    with pytest.raises(NewerMetadata):
        SnapshotPointer.decode(edited(version=2, more=1))


@pytest.mark.parametrize(
    "data",
    [
        b"", b"null", b"[1]", b"\xff", b"[" * 100_000, b'{"version": Infinity}',
        edited(version=True), edited(version="1"), edited(offset="5"), edited(offset=5.0),
        edited(offset=6), edited(offset=-1), edited(parts=0), edited(parts="1"), edited(folder=5),
        edited(folder="../snapshots"), edited(folder=SNAPSHOTS), edited(more=1),
    ],
)  # fmt: skip
def test_an_edited_pointer_is_named(data: bytes) -> None:
    with pytest.raises(CorruptMetadataError, match=SNAPSHOT):
        SnapshotPointer.decode(data)


class World:
    """A log of five batches and a snapshot."""

    def __init__(self) -> None:
        self.ensemble = Ensemble(Random(1))
        self.service = ModelService(self.ensemble)
        self.log = self.new_log()
        self.image = Image()

    def new_log(self) -> ZooKeeperMetadataLog:
        rng = self.ensemble.rng
        return ZooKeeperMetadataLog(self.service, at_once, lambda: rng.randbytes(8).hex())

    async def begin(self) -> None:
        await self.log.load(KnownState())
        claim = await elect(self.service, 1, ManualClock())
        assert claim is not None
        await self.log.begin(claim, 0)
        for offset in range(5):
            await self.log.append(batch(offset))
            self.image.apply(batch(offset))


def test_a_snapshot_of_another_offset_is_refused() -> None:
    """A pointer beyond the end of the log would be waited for without end."""

    async def story() -> None:
        world = World()
        await world.begin()
        await world.log.write_snapshot(world.image)
        pointer = SnapshotPointer.decode(world.ensemble.tree[SNAPSHOT].data)
        folder = snapshot_folder(100, "by-hand")
        part = world.ensemble.tree[f"{pointer.folder}/0"].data
        await world.service.multi(
            [
                Create(folder),
                Create(f"{folder}/0", part),
                Write(SNAPSHOT, replace(pointer, offset=100, folder=folder).encode()),
            ]
        )
        with pytest.raises(CorruptMetadataError, match=f"offset 5, but {SNAPSHOT} has 100"):
            await world.new_log().load(KnownState())

    run_in_virtual_time(story())


def test_znodes_below_what_is_trimmed_are_left_and_keep_nothing_else(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story() -> None:
        world = World()
        await world.begin()
        await world.service.multi(
            [
                Create(f"{batch_path(2)}/by-hand"),
                Create(f"{SNAPSHOTS}/by-hand"),
                Create(f"{SNAPSHOTS}/by-hand/a"),
                Create(f"{SNAPSHOTS}/by-hand/a/b"),
            ]
        )
        await world.log.write_snapshot(world.image)
        left = [each for each in world.ensemble.tree if each.startswith(LOG + "/")]
        assert left == [batch_path(2), f"{batch_path(2)}/by-hand"]
        assert f"the znode {batch_path(2)}" in caplog.text
        assert f"the znode {SNAPSHOTS}/by-hand" in caplog.text
        await world.log.append(batch(5))
        assert (await world.new_log().load(KnownState())).offset == 6

    run_in_virtual_time(story())
