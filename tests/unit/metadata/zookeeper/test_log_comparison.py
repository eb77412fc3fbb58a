"""Znodes of the metadata log that are deleted by hand, and a ZooKeeper restored from an older copy:
no broker takes the place where something is missing for the end of the log."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from random import Random
from typing import Any

import pytest
from tests.support.virtual_time import run_in_virtual_time
from tests.support.zookeeper_model import Change, Ensemble, ModelService
from tests.unit.metadata.log_conformance import batch

from ottla.metadata.continuity import KnownState
from ottla.metadata.image import Image
from ottla.metadata.log import AppendDenied, MetadataLost
from ottla.metadata.publisher import Publisher
from ottla.metadata.zookeeper.claim import Claim
from ottla.metadata.zookeeper.election import elect
from ottla.metadata.zookeeper.layout import CONTROLLER, LOG, SNAPSHOT, batch_path
from ottla.metadata.zookeeper.log_comparison import SeenEnd, Stored, find_fault, find_gap
from ottla.metadata.zookeeper.log_following import GAP_SOUGHT_EVERY_S
from ottla.metadata.zookeeper.service import Create, Delete, Write
from ottla.metadata.zookeeper.zookeeper_log import ZooKeeperMetadataLog
from ottla.testing.clock import ManualClock


async def at_once(job: Callable[[], Any]) -> Any:
    return job()


async def claimed(service: ModelService) -> Claim:
    """Once its server has applied that there is no controller."""
    while (claim := await elect(service, 1, ManualClock())) is None:
        pass
    return claim


class World:
    """A log of some batches, the broker that appends, and one that follows."""

    def __init__(self, seed: int = 1) -> None:
        self.ensemble = Ensemble(Random(seed))
        self.appending, self.following = ModelService(self.ensemble), ModelService(self.ensemble)
        self.by_hand = ModelService(self.ensemble)
        self.log = self.new_log(self.appending)
        self.follower = self.new_log(self.following)
        self.image = Image()
        self.publisher = Publisher(Image())

    def new_log(self, service: ModelService) -> ZooKeeperMetadataLog:
        rng = self.ensemble.rng
        return ZooKeeperMetadataLog(service, at_once, lambda: rng.randbytes(8).hex())

    async def begin(self, count: int) -> None:
        await self.log.load(KnownState())
        await self.elect(self.log, self.appending)
        await self.append(count)
        self.publisher.replace(await self.follower.load(KnownState()))

    async def elect(self, log: ZooKeeperMetadataLog, service: ModelService) -> None:
        if CONTROLLER in self.ensemble.tree:
            await self.by_hand.multi([Delete(CONTROLLER)])
        claim = await claimed(service)
        offset = (self.image if log is self.log else self.publisher.image).offset
        await log.begin(claim, offset)

    async def append(self, count: int) -> None:
        for offset in range(self.image.offset, self.image.offset + count):
            await self.log.append(batch(offset))
            self.image.apply(batch(offset))

    async def delete(self, *paths: str) -> None:
        for path in paths:
            below = [each for each in self.ensemble.tree if each.startswith(path + "/")]
            found = sorted([path, *below], reverse=True)
            await self.by_hand.multi([Delete(each) for each in found])

    def restore(self, copy: dict[str, Any]) -> None:
        """All servers have the older copy; every connection was lost."""
        tree = self.ensemble.tree
        gone = [Change(path, None) for path in tree if path not in copy]
        self.ensemble._commit([*gone, *(Change(path, each) for path, each in copy.items())])
        for service in (self.appending, self.following, self.by_hand):
            service.lose_connection(0.1)

    async def close(self) -> None:
        for service in (self.appending, self.following, self.by_hand):
            await service.close()


def reported(story: Callable[[World], Coroutine[Any, Any, None]], seeds: int = 5) -> None:
    async def whole(seed: int) -> None:
        world = World(seed)
        await story(world)
        await world.close()

    for seed in range(seeds):
        run_in_virtual_time(whole(seed))


def test_a_controller_does_not_append_in_place_of_a_deleted_batch() -> None:
    async def story(world: World) -> None:
        await world.begin(3)
        await world.append(3)
        await world.delete(batch_path(3))  # where the log ends for the follower
        with pytest.raises(MetadataLost, match=f"{batch_path(3)} is missing, although later"):
            await world.elect(world.follower, world.following)
        assert not world.follower.is_claimed
        assert batch_path(3) not in world.ensemble.tree

    reported(story)


@pytest.mark.parametrize("deleted", [batch_path(2), LOG, "/metadata"])
def test_a_controller_does_not_append_after_a_deleted_end(deleted: str) -> None:
    async def story(world: World) -> None:
        await world.begin(3)
        await world.delete(deleted)
        with pytest.raises(MetadataLost, match=batch_path(2) if "/0" in deleted else LOG):
            await world.elect(world.follower, world.following)

    reported(story)


def test_a_follower_finds_a_batch_missing_before_later_ones() -> None:
    async def story(world: World) -> None:
        await world.begin(3)
        await world.append(1)
        await world.delete(batch_path(3))
        await world.append(1)
        with pytest.raises(MetadataLost, match=f"{batch_path(3)} is missing, although later"):
            async with asyncio.timeout(2 * GAP_SOUGHT_EVERY_S):
                await world.publisher.follow(world.follower)
        assert world.publisher.image.offset == 3

    reported(story)


def test_a_follower_that_is_notified_of_a_batch_and_finds_none_compares_at_once() -> None:
    async def story(world: World) -> None:
        await world.begin(3)
        following = asyncio.ensure_future(world.publisher.follow(world.follower))
        await asyncio.sleep(1)
        await world.append(2)
        await world.delete(batch_path(3))  # the follower may have read it
        done, _ = await asyncio.wait([following], timeout=60)
        if done:
            assert batch_path(3) in str(following.exception())
        else:
            assert world.publisher.image.offset == 5
            following.cancel()
            await asyncio.wait([following])
        ended.append(bool(done))

    ended: list[bool] = []
    reported(story, seeds=40)
    assert True in ended


def test_a_follower_at_rest_sends_few_requests_and_sets_no_second_watch() -> None:
    async def story(world: World) -> None:
        await world.begin(3)
        following = asyncio.ensure_future(world.publisher.follow(world.follower))
        await asyncio.sleep(10.5 * GAP_SOUGHT_EVERY_S)
        assert len(world.following._watches) == 1
        await world.append(2)
        await asyncio.wait_for(world.publisher.wait_for(5), 10)
        following.cancel()
        await asyncio.wait([following])

    reported(story, seeds=1)


def test_a_follower_compares_nothing_while_batches_come_one_after_the_other() -> None:
    """Nor does the controller, whose image is ahead of what it follows."""

    async def story(world: World) -> None:
        await world.begin(1)
        lists = 0
        children = world.following.children

        async def counted(*args: Any) -> Any:
            nonlocal lists
            lists += 1
            return await children(*args)

        world.following.children = counted  # type: ignore[method-assign,assignment]
        following = asyncio.ensure_future(world.publisher.follow(world.follower))
        for _ in range(20):
            await world.append(1)
            await asyncio.sleep(world.ensemble.rng.uniform(0, 1))
            if (
                world.publisher.image.offset < world.image.offset
                and world.ensemble.rng.random() < 0.5
            ):
                world.publisher.publish(batch(world.publisher.image.offset))
        await asyncio.wait_for(world.publisher.wait_for(world.image.offset), 10)
        assert lists == 0
        following.cancel()
        await asyncio.wait([following])

    reported(story, seeds=20)


def test_brokers_go_on_without_a_batch_that_all_of_them_have_read() -> None:
    async def story(world: World) -> None:
        await world.begin(3)
        following = asyncio.ensure_future(world.publisher.follow(world.follower))
        await world.delete(batch_path(2))
        await asyncio.sleep(2 * GAP_SOUGHT_EVERY_S)
        await world.append(2)
        await asyncio.wait_for(world.publisher.wait_for(5), 10)
        await world.log.write_snapshot(world.image)
        await world.elect(world.follower, world.following)
        following.cancel()
        await asyncio.wait([following])
        assert (await world.new_log(world.by_hand).load(KnownState())).offset == 5

    reported(story)


@pytest.mark.parametrize("others", [0, 1, 5], ids=["shorter", "as long", "longer"])
def test_a_follower_does_not_go_on_in_an_older_copy(others: int) -> None:
    """Whatever brokers that have not seen what is missing have appended to it."""

    async def story(world: World) -> None:
        await world.begin(3)
        copy = dict(world.ensemble.tree)
        await world.append(1)
        following = asyncio.ensure_future(world.publisher.follow(world.follower))
        await asyncio.wait_for(world.publisher.wait_for(4), 10)
        world.restore({path: each for path, each in copy.items() if not each.owner})
        service = ModelService(world.ensemble)
        other = world.new_log(service)
        claim = await claimed(service)
        await other.begin(claim, (await other.load(KnownState())).offset)
        for offset in range(3, 3 + others):
            await other.append(batch(offset, epoch=2))
        with pytest.raises(MetadataLost, match=batch_path(3)):
            await asyncio.wait_for(following, 10)
        assert world.publisher.image.offset == 4
        await service.close()

    reported(story)


@pytest.mark.parametrize("others", [2, 6])
def test_a_start_does_not_use_an_older_copy_that_others_have_continued(others: int) -> None:
    """It has all offsets that were seen, with other records, and of the same epoch."""

    async def story(world: World) -> None:
        await world.begin(3)
        copy = dict(world.ensemble.tree)
        await world.append(2)
        known = KnownState.of(world.image)
        world.restore({path: each for path, each in copy.items() if not each.owner})
        service = ModelService(world.ensemble)
        other = world.new_log(service)
        image = await other.load(KnownState())
        await other.begin(await claimed(service), image.offset)
        for offset in range(3, 3 + others):
            await other.append(batch(offset))
            image.apply(batch(offset))
        started = world.new_log(world.by_hand)
        started.remember(world.log.seen_end)
        with pytest.raises(MetadataLost, match=f"the znode {batch_path(4)} has another batch"):
            await started.load(known)
        again = world.new_log(world.by_hand)
        again.remember(other.seen_end)
        assert (await again.load(known)).offset == 3 + others
        await other.write_snapshot(image)
        assert (await again.load(known)).offset == 3 + others
        await service.close()

    reported(story, seeds=3)


def test_a_controller_does_not_go_on_in_an_older_copy() -> None:
    """Although the copy is of its own epoch, so that the log accepts what it appends."""

    async def story(world: World) -> None:
        await world.begin(3)
        copy = dict(world.ensemble.tree)
        await world.append(2)
        world.restore(copy)
        with pytest.raises(MetadataLost, match=batch_path(4)):
            await world.append(1)
        with pytest.raises(MetadataLost, match=batch_path(4)):
            await world.log.confirm()
        assert batch_path(5) not in world.ensemble.tree

    reported(story)


def test_lost_connections_and_snapshots_are_no_fault() -> None:
    async def story(world: World) -> None:
        await world.begin(3)
        following = asyncio.ensure_future(world.publisher.follow(world.follower))
        for round_ in range(6):
            world.following.lose_connection(0.3)
            await world.append(3)
            if round_ % 2:
                await world.log.write_snapshot(world.image)
            world.appending.lose_connection(0.2)
            await asyncio.sleep(world.ensemble.rng.uniform(0, 2))
        await asyncio.wait_for(world.publisher.wait_for(world.image.offset), 10)
        assert world.publisher.image == world.image
        following.cancel()
        await asyncio.wait([following])
        await world.elect(world.follower, world.following)

    reported(story, seeds=20)


@pytest.mark.parametrize("deleted", [LOG, "/metadata"])
def test_a_deleted_folder_of_batches_is_not_a_new_cluster(deleted: str) -> None:
    """Not even for a broker that has never seen the cluster; and the next one finds it missing,
    too."""

    async def story(world: World) -> None:
        await world.begin(3)
        await world.delete(deleted)
        for _ in range(2):
            with pytest.raises(MetadataLost, match=f"the znode {LOG} is missing"):
                await world.new_log(world.by_hand).load(KnownState())
        assert LOG not in world.ensemble.tree

    reported(story)


def test_deleted_batches_are_not_a_new_cluster() -> None:
    async def story(world: World) -> None:
        await world.begin(3)
        await world.delete(*map(batch_path, range(3)))
        with pytest.raises(MetadataLost, match=f"the znode {LOG} is empty"):
            await world.new_log(world.by_hand).load(KnownState())

    reported(story)


def test_a_deleted_snapshot_is_not_a_new_cluster() -> None:
    async def story(world: World) -> None:
        await world.begin(3)
        await world.log.write_snapshot(world.image)
        await world.delete(SNAPSHOT)
        with pytest.raises(MetadataLost, match=SNAPSHOT):
            await world.new_log(world.by_hand).load(KnownState())
        with pytest.raises(MetadataLost, match="this broker has seen"):
            await world.elect(world.follower, world.following)

    reported(story)


def test_a_log_that_is_refused_is_left_as_it_is() -> None:
    async def story(world: World) -> None:
        with pytest.raises(MetadataLost, match="missing or empty"):
            await world.log.load(KnownState(offset=1))
        assert world.ensemble.tree == {}

    reported(story, seeds=1)


def test_an_edited_batch_stops_no_broker_that_has_read_it(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def story(world: World) -> None:
        await world.begin(3)
        await world.by_hand.multi([Write(batch_path(2), b"me")])
        await world.elect(world.follower, world.following)
        assert f"the znode {batch_path(2)} was edited" in caplog.text

    reported(story, seeds=1)


@pytest.mark.parametrize("is_copy", [True, False])
def test_a_later_znode_that_was_created_by_hand_is_named_and_shows_no_gap(
    is_copy: bool, caplog: pytest.LogCaptureFixture
) -> None:
    """One mistake would end all brokers of the cluster."""

    async def story(world: World) -> None:
        await world.begin(3)
        data = world.ensemble.tree[batch_path(2)].data if is_copy else b""
        await world.by_hand.multi([Create(batch_path(1000), data)])
        following = asyncio.ensure_future(world.publisher.follow(world.follower))
        await asyncio.sleep(2 * GAP_SOUGHT_EVERY_S)
        assert f"the znode {batch_path(1000)} was created by something else" in caplog.text
        await world.append(1)
        await asyncio.wait_for(world.publisher.wait_for(4), 60)
        following.cancel()
        await asyncio.wait([following])
        await world.elect(world.follower, world.following)

    reported(story, seeds=3)


def test_a_later_batch_that_was_edited_shows_a_gap() -> None:
    async def story(world: World) -> None:
        await world.begin(3)
        await world.append(2)
        await world.delete(batch_path(3))
        await world.by_hand.multi([Write(batch_path(4), b"")])
        with pytest.raises(MetadataLost, match=f"{batch_path(3)} is missing, although later"):
            await world.elect(world.follower, world.following)

    reported(story, seeds=3)


def test_a_znode_that_is_denied_ends_no_controller_and_nothing_is_decided_twice() -> None:
    async def story(world: World) -> None:
        await world.begin(3)
        world.ensemble.denied.add(LOG)
        for _ in range(2):
            with pytest.raises(AppendDenied, match=f"the znode {batch_path(3)}: denied"):
                await world.log.append(batch(3))
        world.ensemble.denied.clear()
        await world.append(1)
        world.ensemble.denied.add(LOG)
        await world.log.write_snapshot(world.image)  # trimming is left out
        world.ensemble.denied.add("/metadata")
        with pytest.raises(PermissionError, match=SNAPSHOT):
            await world.log.write_snapshot(world.image)
        world.ensemble.denied.clear()
        await world.append(1)
        assert (await world.new_log(world.by_hand).load(KnownState())).offset == 5

    reported(story, seeds=3)


def test_what_is_in_a_snapshot_may_be_trimmed() -> None:
    seen = SeenEnd(5, 3, "nonce")
    assert find_fault(seen, Stored([], None, 5)) is None
    assert find_fault(seen, Stored([7], None, 6)) is None  # it is loaded next
    assert find_fault(seen, Stored([5, 6], None, 5)) is None
    assert batch_path(5) in (find_fault(seen, Stored([6], None, 5)) or "")
    assert batch_path(3) in (find_fault(seen, Stored([], None, 4)) or "")
    assert find_gap(seen, Stored([], None, 4)) is None
    assert batch_path(5) in (find_gap(seen, Stored([6], None, 5)) or "")
