"""The metadata log in ZooKeeper while something else happens, at every pause."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from tests.support.paused_service import PausedService, at_every_pause
from tests.support.virtual_time import run_in_virtual_time
from tests.support.zookeeper_model import Ensemble, ModelService
from tests.unit.metadata.log_conformance import batch

from ottla.metadata.continuity import KnownState
from ottla.metadata.image import Batch, Image
from ottla.metadata.log import AppendFailed, AppendRefused, NewerMetadata, Trimmed
from ottla.metadata.records import ConfigChanged, ConfigResource, ResourceType
from ottla.metadata.zookeeper import snapshots
from ottla.metadata.zookeeper.batch_znode import BatchZnodeHeader, encode_batch
from ottla.metadata.zookeeper.election import elect
from ottla.metadata.zookeeper.layout import (
    CONTROLLER,
    CONTROLLER_EPOCH,
    LOG,
    PARTS,
    SNAPSHOT,
    SNAPSHOTS,
    ZNODE_BYTES_MAX,
    batch_path,
)
from ottla.metadata.zookeeper.service import Create, Delete
from ottla.metadata.zookeeper.snapshot_need import SNAPSHOT_BYTES, SNAPSHOT_RECORDS
from ottla.metadata.zookeeper.zookeeper_log import ZooKeeperMetadataLog
from ottla.testing.clock import ManualClock

GROUP = ConfigResource(ResourceType.GROUP, "group")


async def at_once(job: Callable[[], Any]) -> Any:
    return job()


def new_log(service: ModelService, ensemble: Ensemble) -> ZooKeeperMetadataLog:
    return ZooKeeperMetadataLog(service, at_once, lambda: ensemble.rng.randbytes(8).hex())


async def controlled_log(service: ModelService, ensemble: Ensemble) -> ZooKeeperMetadataLog:
    """A log whose broker was elected."""
    log = new_log(service, ensemble)
    image = await log.load(KnownState())
    claim = await elect(service, 1, ManualClock())
    assert claim is not None
    await log.begin(claim, image.offset)
    return log


def random_batch(offset: int, znodes: int) -> Batch:
    """Fills so many znodes: random text can be compressed by half at most."""
    values = (Random(n).randbytes(ZNODE_BYTES_MAX // 8).hex() for n in range(8 * znodes))
    records = (ConfigChanged(GROUP, str(n), value) for n, value in enumerate(values))
    return Batch(offset, 1, tuple(records))


LARGE = random_batch(1, znodes=2)


def children(ensemble: Ensemble, folder: str) -> list[str]:
    return sorted(path for path in ensemble.tree if path.startswith(folder + "/"))


def test_a_controller_that_was_replaced_is_not_confirmed() -> None:
    async def story() -> None:
        ensemble = Ensemble(Random(1))
        first, second = ModelService(ensemble), ModelService(ensemble)
        log = await controlled_log(first, ensemble)
        await log.confirm()
        await first.multi([Delete(CONTROLLER)])
        await log.confirm()  # no other controller was elected
        await controlled_log(second, ensemble)
        with pytest.raises(AppendRefused, match=CONTROLLER_EPOCH):
            await log.confirm()
        log.end_claim()
        with pytest.raises(AppendRefused, match="not the controller"):
            await log.confirm()

    run_in_virtual_time(story())


def test_a_batch_in_parts_is_whole_whenever_the_connection_is_lost() -> None:
    assert len(encode_batch(LARGE, 1, "").parts) > 2

    async def story(ensemble: Ensemble, pause: int) -> bool:
        service = PausedService(ensemble)
        log = await controlled_log(service, ensemble)
        await log.append(batch(0))

        async def lose() -> None:
            service.lose_connection(0.1)

        service.arm(pause, lose)
        await log.append(LARGE)
        assert await log.read(0) == [batch(0), LARGE]
        return service.has_happened

    at_every_pause(story, seeds=1)


def test_a_batch_in_parts_is_whole_although_connections_are_lost_with_requests_under_way() -> None:
    async def story(seed: int) -> None:
        ensemble = Ensemble(Random(seed))
        service = ModelService(ensemble)
        log = await controlled_log(service, ensemble)
        await log.append(batch(0))
        appending = asyncio.ensure_future(log.append(LARGE))
        while not appending.done():
            await asyncio.sleep(ensemble.rng.uniform(0, 0.03))
            service.lose_connection(0.01)
        await appending
        assert await log.read(0) == [batch(0), LARGE]

    for seed in range(10):
        run_in_virtual_time(story(seed))


def test_a_cancelled_append_is_followed_by_no_other() -> None:
    """It may have been applied: the offset of the next batch is not known."""

    async def story(ensemble: Ensemble, pause: int) -> bool:
        service = PausedService(ensemble)
        log = await controlled_log(service, ensemble)

        async def cancel() -> None:
            appending.cancel()

        service.arm(pause, cancel)
        appending = asyncio.ensure_future(log.append(batch(0)))
        with suppress(asyncio.CancelledError):
            await appending
            return False
        is_answered = pause > 0  # what follows is refused because the log is longer
        with pytest.raises(AppendRefused if is_answered else AppendFailed):
            await log.append(batch(0))
        return True

    at_every_pause(story)


def test_a_log_is_loaded_whole_whenever_a_snapshot_replaces_its_batches() -> None:
    async def story(ensemble: Ensemble, pause: int) -> bool:
        one, other = ModelService(ensemble), PausedService(ensemble)
        log = await controlled_log(one, ensemble)
        image, past = Image(), dict[int, Image]()

        async def append_three() -> None:
            for offset in range(image.offset, image.offset + 3):
                await log.append(batch(offset))
                image.apply(batch(offset))
                past[image.offset] = image.copy()
            await log.write_snapshot(image)

        await append_three()
        other.arm(pause, append_three)
        found = await new_log(other, ensemble).load(KnownState(offset=3))
        assert found == past[found.offset]
        return other.has_happened

    at_every_pause(story)


def test_a_new_controller_finds_the_end_of_the_log_whenever_trimming_is_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Its image may be older than the snapshot. Batches that it took for the next ones would
    contradict those that others have applied."""
    monkeypatch.setattr(snapshots, "DELETED_TOGETHER", 2)
    image = Image()
    for offset in range(8):
        image.apply(batch(offset))

    async def story(ensemble: Ensemble, pause: int) -> bool:
        one, other = PausedService(ensemble), ModelService(ensemble)
        log = await controlled_log(one, ensemble)
        for offset in range(8):
            await log.append(batch(offset))

        async def take_over() -> None:
            await other.multi([Delete(CONTROLLER)])
            claim = await elect(other, 2, ManualClock())
            assert claim is not None
            for offset in range(8):
                with suppress(Trimmed):
                    found = await new_log(other, ensemble).begin(claim, offset)
                    assert [each.base_offset for each in found] == list(range(offset, 8))

        one.arm(pause, take_over)
        with suppress(AppendFailed):
            await log.write_snapshot(image)
        return one.has_happened

    at_every_pause(story, seeds=1)


def test_a_reader_waits_for_no_batch_that_was_trimmed() -> None:
    async def story(ensemble: Ensemble, pause: int) -> bool:
        one, other = ModelService(ensemble), PausedService(ensemble)
        log = await controlled_log(one, ensemble)
        image = Image()
        for offset in range(3):
            await log.append(batch(offset))
            image.apply(batch(offset))

        async def trim() -> None:
            await log.write_snapshot(image)

        reader = new_log(other, ensemble)
        other.arm(pause, trim)
        async with asyncio.timeout(60):
            await reader.wait_beyond(1)
        if other.has_happened:
            async with asyncio.timeout(60):
                await reader.wait_beyond(1)
        return other.has_happened

    at_every_pause(story, seeds=1)


def test_a_batch_in_parts_that_is_trimmed_while_it_is_read_is_no_damage() -> None:
    image = Image()
    for each in (batch(0), LARGE):
        image.apply(each)

    async def story(ensemble: Ensemble, pause: int) -> bool:
        one, other = ModelService(ensemble), PausedService(ensemble)
        log = await controlled_log(one, ensemble)
        for each in (batch(0), LARGE):
            await log.append(each)

        async def trim() -> None:
            await log.write_snapshot(image)
            await other.sync()

        await other.sync()
        other.arm(pause, trim)
        with suppress(Trimmed):
            assert await new_log(other, ensemble).read(1) == [LARGE]
        return other.has_happened

    at_every_pause(story, seeds=1)


def test_a_log_is_loaded_up_to_what_was_acknowledged() -> None:
    """Whatever the server lacks that a broker is connected to."""

    async def story(seed: int) -> None:
        ensemble = Ensemble(Random(seed))
        one, other = ModelService(ensemble), ModelService(ensemble)
        log = await controlled_log(one, ensemble)
        await other.exists(LOG)
        for offset in range(5):
            await log.append(batch(offset))
        found = await new_log(other, ensemble).load(KnownState(offset=5))
        assert found.offset == 5

    for seed in range(30):
        run_in_virtual_time(story(seed))


def test_a_snapshot_leaves_nothing_behind_whenever_the_connection_is_lost() -> None:
    image, batches = Image(), [batch(0), random_batch(1, znodes=1)]
    for each in batches:
        image.apply(each)

    async def story(ensemble: Ensemble, pause: int) -> bool:
        service = PausedService(ensemble)
        log = await controlled_log(service, ensemble)
        for each in batches:
            await log.append(each)

        async def lose() -> None:
            service.lose_connection(0.1)

        service.arm(pause, lose)
        await log.write_snapshot(image)
        assert children(ensemble, LOG) == children(ensemble, PARTS) == []
        folders = [each for each in children(ensemble, SNAPSHOTS) if each.count("/") == 3]
        assert len(folders) == 1
        assert await new_log(service, ensemble).load(KnownState()) == image
        return service.has_happened

    at_every_pause(story, seeds=1)


def test_the_bytes_of_parts_count_towards_the_next_snapshot() -> None:
    async def story() -> None:
        ensemble = Ensemble(Random(1))
        log = await controlled_log(ModelService(ensemble), ensemble)
        half = random_batch(0, znodes=SNAPSHOT_BYTES // ZNODE_BYTES_MAX // 2 + 1)
        await log.append(half)
        assert not log.wants_snapshot
        await log.append(Batch(len(half.records), 1, half.records))
        assert log.wants_snapshot

    run_in_virtual_time(story())


def test_many_records_are_replaced_by_a_snapshot_however_small_they_are() -> None:
    """When a broker stops, one batch has a record for each of its partitions."""

    async def story() -> None:
        ensemble = Ensemble(Random(1))
        log = await controlled_log(ModelService(ensemble), ensemble)
        records = tuple(ConfigChanged(GROUP, "n", str(each)) for each in range(5000))
        for at in range(0, SNAPSHOT_RECORDS, len(records)):
            assert not log.wants_snapshot
            await log.append(Batch(at, 1, records))
        assert log.wants_snapshot

    run_in_virtual_time(story())


def test_what_earlier_controllers_have_appended_counts_towards_the_next_snapshot() -> None:
    async def story() -> None:
        ensemble = Ensemble(Random(1))
        service = ModelService(ensemble)
        first = await controlled_log(service, ensemble)
        image = Image()
        for at in range(3):
            batch = Batch(at, 1, (ConfigChanged(GROUP, "n", str(at)),))
            image.apply(batch)
            await first.append(batch)
            if at == 0:
                await first.write_snapshot(image)
        for limit, is_wanted in ((2, True), (3, False)):
            log = ZooKeeperMetadataLog(
                service, at_once, lambda: ensemble.rng.randbytes(8).hex(), snapshot_batches=limit
            )
            await service.multi([Delete(CONTROLLER)])
            claim = await elect(service, 1, ManualClock())
            assert claim is not None
            await log.begin(claim, 3)
            assert log.wants_snapshot == is_wanted

    run_in_virtual_time(story())


def newer_records() -> bytes:
    body = b'[{"k":"hologram"}]'
    header = BatchZnodeHeader(1, 1, 1, 1, "nonce", "none", 0)
    return replace(header, checksum=header.computed_checksum(body)).encode_line() + body


@pytest.mark.parametrize(
    ("path", "data", "what"),
    [
        (batch_path(1), newer_records(), "unknown kind 'hologram'"),
        (batch_path(1), b'{"version": 2, "sequence": 1}\n', "the header is one of format 2"),
        (SNAPSHOT, b'{"version": 2, "place": "/metadata/elsewhere"}', "it has format 2"),
    ],
)
def test_what_a_newer_version_has_written_is_not_called_damaged(
    path: str, data: bytes, what: str
) -> None:
    async def story() -> None:
        ensemble = Ensemble(Random(1))
        service = ModelService(ensemble)
        log = await controlled_log(service, ensemble)
        await log.append(batch(0))
        await service.multi([Create(path, data)])
        for read in (new_log(service, ensemble).load(KnownState()), log.read(1)):
            with pytest.raises(NewerMetadata, match=f"{path} was written by a newer .*{what}"):
                await read

    run_in_virtual_time(story())
