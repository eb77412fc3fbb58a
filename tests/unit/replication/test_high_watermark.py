"""The high watermark, and who waits for it: that a wait begins, how long it lasts, how it ends.

Syncs do not run by themselves here: `JobsLater` holds a job for a thread until a test lets it
run, so that a test can look while a sync is under way.
"""

from __future__ import annotations

import asyncio
import errno
from collections.abc import Coroutine, Iterable
from dataclasses import replace
from random import Random
from typing import Any

import pytest
from tests.support.steps_by_hand import JobsLater
from tests.unit.storage.log_making import Place, batch_of, marker_of, placed

from ottla.base.files.readers import BLOCKING
from ottla.base.ids import TopicId, TopicPartition
from ottla.base.scheduling.callback_queue import TASKS_MAX, CallbackQueue
from ottla.base.scheduling.loop_timers import LoopTimers
from ottla.config.topic_options import TopicConfig
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.replication.fetch_sessions import FetchKey, FetchSession, WantedPartition
from ottla.replication.fetch_waiters import DataWaiter, Watchable
from ottla.replication.leader_role import ACKS_ALL
from ottla.replication.leadership import Leadership
from ottla.replication.partition import Partition
from ottla.replication.sole_replica import SoleReplica
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.log.append import ProducedBy
from ottla.storage.producers.append_decisions import AppendOrigin

NAME = TopicPartition("t", 0)
TOPIC_ID = TopicId(b"sixteen bytes ID")
COORDINATOR = ProducedBy(AppendOrigin.COORDINATOR)
ME, OTHER, THIRD = 1, 2, 3
EACH_MESSAGE = TopicConfig(flush_messages=1)


def data_waiter(
    watched: Iterable[Watchable], bytes_missing: int, *, is_committed: bool = False
) -> DataWaiter:
    queue = CallbackQueue(TASKS_MAX)
    return DataWaiter(watched, bytes_missing, LoopTimers(), queue, is_committed=is_committed)


class CountingListener(SoleReplica):
    def __init__(self) -> None:
        self.out_of_room_count = 0

    def out_of_resources(self, topic_id: TopicId, index: int, state: Leadership) -> None:
        self.out_of_room_count += 1


class World:
    """One partition, led by this broker unless a test says otherwise."""

    def __init__(
        self,
        config: TopicConfig = EACH_MESSAGE,
        replicas: tuple[int, ...] = (ME,),
        in_sync: tuple[int, ...] | None = None,
    ) -> None:
        self.place = Place(config=config)
        self.syncs = JobsLater()
        self.listener = CountingListener()
        self.partition = Partition(NAME, TOPIC_ID, ME, self.place.open(), self.syncs, self.listener)
        self.replicas = replicas
        self.in_sync = replicas if in_sync is None else in_sync
        self.epoch = 0
        self.decide(ME)

    def decide(
        self, leader: int, *, in_sync: tuple[int, ...] | None = None, new: bool = True
    ) -> None:
        self.in_sync = self.in_sync if in_sync is None else in_sync
        self.epoch += new
        partition_epoch = max(self.partition.leadership.partition_epoch, 20) + 1
        decided = Leadership(leader, self.epoch, partition_epoch, self.replicas, self.in_sync)
        self.partition.lead_or_follow(decided, self.place.clock.now_ms())

    def append(self, value: bytes = b"v", acks: int = ACKS_ALL) -> int:
        """Where the wait of its producer ends."""
        return self.partition.append(batch_of(value), acks).last_offset + 1

    def fetched(self, broker: int, offset: int) -> None:
        state = self.partition.leader_state
        assert state is not None
        end = self.partition.log.log_end_offset
        state.followers[broker].fetched(offset, 0, end, self.place.clock.now_ms())
        self.partition.advance()

    @property
    def high_watermark(self) -> int:
        return self.partition.log.high_watermark


def run(story: Coroutine[Any, Any, None]) -> None:
    asyncio.run(asyncio.wait_for(story, 20))


async def run_pending() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


# Waiting for the disk


def test_a_sync_of_an_earlier_leadership_does_not_end_waits_of_a_later_one() -> None:
    """What it was to sync was truncated meanwhile: that says nothing about later records."""

    async def story() -> None:
        world = World(replicas=(ME, OTHER))
        world.append(b"first")
        world.append(b"second")  # the sync is under way
        world.decide(OTHER)
        world.partition.log.truncate_to(0)
        world.decide(ME)
        end = world.append(b"third")
        waiting = asyncio.ensure_future(world.partition.wait_replicated(end))
        await run_pending()
        world.syncs.run_all()
        world.fetched(OTHER, end)
        await waiting
        assert world.high_watermark == end

    run(story())


def test_a_sync_of_an_earlier_leadership_commits_nothing() -> None:
    """The new leader may not have the records: it reports what is committed."""

    async def story() -> None:
        world = World(replicas=(ME, OTHER), in_sync=(ME,))
        world.append()
        world.decide(OTHER, in_sync=(OTHER,))
        world.syncs.run_all()
        assert world.partition.log.recovery_point == 1
        assert world.high_watermark == 0

    run(story())


@pytest.mark.parametrize("high_watermark", [2, 3, 9])
def test_a_follower_deletes_what_the_leader_has_deleted_though_nothing_was_committed_since(
    high_watermark: int,
) -> None:
    """And never what it does not know to be committed."""
    world = World(replicas=(ME, OTHER))
    world.decide(OTHER)
    for offset in range(3):
        world.partition.log.append_as_follower(placed(batch_of(b"v"), offset, 2))
    world.partition.follow_leader(high_watermark, 0, 100)
    committed = min(high_watermark, 3)
    for log_start_offset in range(5):
        world.partition.follow_leader(high_watermark, log_start_offset, 0)
        assert world.partition.log.log_start_offset == min(log_start_offset, committed)


def test_acks_all_waits_for_the_sync_required_by_the_flush_policy() -> None:
    async def story() -> None:
        world = World()
        end = world.append()
        assert not world.partition.is_replicated(end)
        assert (world.high_watermark, world.partition.log.recovery_point) == (0, 0)
        waiting = asyncio.ensure_future(world.partition.wait_replicated(end))
        await run_pending()
        assert not waiting.done()
        assert world.partition.has_pending_acks
        assert world.partition.needs_sync(end)
        world.syncs.run_one()
        assert world.high_watermark == world.partition.log.recovery_point == end
        await waiting
        assert not world.partition.has_pending_acks
        assert not world.partition.needs_sync(end)
        assert world.partition.is_replicated(end)

    run(story())


def test_what_comes_during_a_sync_waits_for_the_next_one() -> None:
    async def story() -> None:
        world = World()
        first = world.append(b"a")
        second = world.append(b"b")
        assert len(world.syncs.waiting) == 1, "one at a time"
        waits = [
            asyncio.ensure_future(world.partition.wait_replicated(end)) for end in (first, second)
        ]
        await run_pending()
        third = world.append(b"c")
        world.syncs.run_one()  # began with the first record alone
        await run_pending()
        assert world.partition.log.recovery_point == first
        assert (world.high_watermark, waits[0].done(), waits[1].done()) == (first, True, False)
        assert world.partition.needs_sync(second)
        assert not world.partition.needs_sync(first)
        world.syncs.run_one()
        assert (world.high_watermark, len(world.syncs.waiting)) == (third, 0)
        await asyncio.gather(*waits)

    run(story())


def test_a_reader_sees_nothing_that_is_not_on_disk_yet() -> None:
    world = World()
    end = world.append()
    for is_committed in (False, True):
        found = world.partition.read(
            BLOCKING, 0, 1000, is_committed=is_committed, at_least_one=True
        )
        assert len(found.records) == 0
    world.syncs.run_one()
    found = world.partition.read(BLOCKING, 0, 1000, is_committed=False, at_least_one=True)
    assert len(found.records) > 0
    assert world.partition.flush_required_to == end


def test_without_a_flush_policy_there_is_no_wait_for_the_disk() -> None:
    world = World(TopicConfig())
    end = world.append()
    assert world.partition.is_replicated(end)
    assert not world.partition.needs_sync(end)
    assert not world.syncs.waiting
    assert world.partition.log.recovery_point == 0


def test_a_pending_flush_of_earlier_records_holds_back_later_ones() -> None:
    """A sync is due from the third record on; those before it need none."""
    world = World(TopicConfig(flush_messages=3))
    assert [world.append(), world.append()] == [1, 2]
    assert (world.high_watermark, world.partition.flush_required_to) == (2, 0)
    third = world.append()
    assert (world.high_watermark, world.partition.flush_required_to) == (2, third)
    fourth = world.append()
    assert world.high_watermark == 2, "what was visible stays so, and no more is"
    world.syncs.run_one()
    assert (world.high_watermark, world.partition.flush_required_to) == (third, fourth)
    world.syncs.run_one()
    assert world.high_watermark == fourth
    assert world.append() == world.high_watermark == 5, "nothing is pending for it"


def test_a_failed_sync_fails_all_waiters() -> None:
    async def story() -> None:
        world = World()
        end = world.append()
        waits = [asyncio.ensure_future(world.partition.wait_replicated(end)) for _ in range(2)]
        cancelled = asyncio.ensure_future(world.partition.wait_replicated(end))
        await run_pending()
        cancelled.cancel()
        world.place.disk.fail("sync", "*", times=None)
        world.syncs.run_one()
        for each in waits:
            with pytest.raises(StorageUnavailable):
                await each
        assert world.high_watermark == 0
        assert not world.partition.has_pending_acks

    run(story())


def test_a_leader_whose_sync_has_no_room_lets_others_lead() -> None:
    async def story() -> None:
        world = World()
        world.append()
        name = "*leader-epoch-checkpoint*"
        world.place.disk.fail(("create", "write"), name, error=errno.ENOSPC, times=None)
        world.syncs.run_one()
        assert world.high_watermark == 0
        assert world.listener.out_of_room_count == 1

    run(story())


def test_waiting_for_the_disk_alone_begins_and_ends_with_a_sync() -> None:
    async def story() -> None:
        world = World(TopicConfig())
        end = world.append()
        outcomes: list[Exception | None] = []
        world.partition.when_synced(end, outcomes.append)
        world.partition.when_synced(end, outcomes.append)
        assert outcomes == []
        world.syncs.run_one()
        assert outcomes == [None, None]
        world.partition.when_synced(end, outcomes.append)  # at once: it is there
        assert outcomes == [None, None, None]
        world.append()
        world.partition.when_synced(end + 1, outcomes.append)
        world.place.disk.fail("sync", "*", times=None)
        world.syncs.run_one()
        assert isinstance(outcomes[-1], StorageUnavailable)

    run(story())


def test_a_copy_of_the_log_that_is_not_on_disk_yet_holds_back_as_the_original_did() -> None:
    async def story() -> None:
        world = World()
        end = world.append()
        waiting = asyncio.ensure_future(world.partition.wait_replicated(end))
        await run_pending()
        copied = replace(world.place, path="/data/t-0-future").open()
        copied.append_as_follower(
            world.partition.log.segments.active.open(BLOCKING).read_at(0, 1 << 20)
        )
        copied.update_high_watermark(world.high_watermark)
        world.syncs.waiting.clear()  # of the log that is left behind
        world.partition.replace_log(copied)
        await run_pending()
        assert not waiting.done()
        world.syncs.run_one()
        assert world.high_watermark == copied.recovery_point == end
        await waiting
        world.syncs.waiting.clear()
        world.partition.replace_log(copied)
        assert not world.syncs.waiting, "nothing is pending any more"

    run(story())


# Waiting for followers


def test_acks_all_waits_for_every_follower_in_sync_and_for_the_own_disk() -> None:
    async def story() -> None:
        world = World(replicas=(ME, OTHER, THIRD))
        end = world.append()
        waiting = asyncio.ensure_future(world.partition.wait_replicated(end))
        await run_pending()
        world.fetched(OTHER, end)
        assert world.high_watermark == 0
        world.fetched(THIRD, end)
        await run_pending()
        assert (world.high_watermark, waiting.done()) == (0, False), "the own disk is missing"
        world.syncs.run_one()
        assert world.high_watermark == end
        await waiting

    run(story())


def test_a_follower_out_of_sync_is_not_waited_for_but_one_that_rejoins_is() -> None:
    world = World(TopicConfig(), replicas=(ME, OTHER, THIRD), in_sync=(ME, OTHER))
    end = world.append()
    world.fetched(OTHER, end)
    assert world.high_watermark == end
    world.decide(ME, in_sync=(ME, OTHER, THIRD), new=False)
    later = world.append()
    world.fetched(OTHER, later)
    assert world.high_watermark == end
    world.decide(ME, in_sync=(ME, OTHER), new=False)  # it is given up
    assert world.high_watermark == later


def test_the_high_watermark_stands_still_while_too_few_are_in_sync() -> None:
    config = TopicConfig(min_insync_replicas=2)
    world = World(config, replicas=(ME, OTHER), in_sync=(ME,))
    with pytest.raises(BrokerError) as raised:
        world.append()
    assert raised.value.code is ErrorCode.NOT_ENOUGH_REPLICAS
    world.append(acks=1)
    assert world.high_watermark == 0
    world.fetched(OTHER, 1)
    world.decide(ME, in_sync=(ME, OTHER), new=False)
    assert world.high_watermark == 1


def test_a_partition_with_one_replica_requires_only_that() -> None:
    world = World(TopicConfig(min_insync_replicas=3))
    assert world.append() == world.high_watermark == 1
    pair = World(TopicConfig(min_insync_replicas=3), replicas=(ME, OTHER))
    pair.append()
    pair.fetched(OTHER, 1)
    assert pair.high_watermark == 1


# Leadership


def test_waiters_fail_when_another_broker_becomes_leader() -> None:
    async def story() -> None:
        world = World(replicas=(ME, OTHER))
        end = world.append()
        waiting = asyncio.ensure_future(world.partition.wait_replicated(end))
        await run_pending()
        world.decide(OTHER)
        with pytest.raises(BrokerError) as raised:
            await waiting
        assert raised.value.code is ErrorCode.NOT_LEADER_OR_FOLLOWER
        assert not world.partition.is_leader
        with pytest.raises(BrokerError):
            world.append()
        world.syncs.run_one()
        assert world.high_watermark == 0, "only a leader moves it"

    run(story())


def test_an_older_decision_changes_nothing() -> None:
    world = World(replicas=(ME, OTHER))
    known = world.partition.leadership
    older = Leadership(OTHER, 9, known.partition_epoch - 1, (OTHER,), (OTHER,))
    world.partition.lead_or_follow(older, 0)
    assert (world.partition.leadership, world.partition.is_leader) == (known, True)
    same = replace(known, leader=OTHER)
    world.partition.lead_or_follow(same, 0)
    assert not world.partition.is_leader


def test_a_new_epoch_of_the_same_leader_forgets_how_far_the_followers_were() -> None:
    world = World(TopicConfig(), replicas=(ME, OTHER))
    end = world.append()
    world.fetched(OTHER, end)
    state = world.partition.leader_state
    world.decide(ME, new=False)
    assert world.partition.leader_state is state
    world.decide(ME)
    assert world.partition.leader_state is not state
    assert world.partition.has_caught_up
    world.append()
    assert world.high_watermark == end
    assert world.partition.log.epochs.load(BLOCKING).entries[-1] == (2, end)
    world.decide(ME)
    assert not world.partition.has_caught_up, "records of its last epoch may not be committed"
    world.fetched(OTHER, 2)
    assert world.partition.has_caught_up


@pytest.mark.parametrize(
    ("epoch", "code"),
    [
        (-1, None),
        (1, None),
        (0, ErrorCode.FENCED_LEADER_EPOCH),
        (2, ErrorCode.UNKNOWN_LEADER_EPOCH),
    ],
)
def test_clients_with_another_epoch_get_the_error_for_older_or_newer(
    epoch: int, code: ErrorCode | None
) -> None:
    world = World()
    if code is None:
        world.partition.check_leader(epoch)
        world.decide(OTHER)
        code, epoch = ErrorCode.NOT_LEADER_OR_FOLLOWER, 2 if epoch >= 0 else -1
    with pytest.raises(BrokerError) as raised:
        world.partition.check_leader(epoch)
    assert raised.value.code is code


def test_only_other_brokers_with_a_copy_read_as_followers_do() -> None:
    world = World(replicas=(ME, OTHER))
    world.partition.check_follower(OTHER)
    for stranger in (ME, THIRD):
        for epoch, code in (
            (-1, ErrorCode.NOT_LEADER_OR_FOLLOWER),
            (0, ErrorCode.UNKNOWN_LEADER_EPOCH),
            (1, ErrorCode.UNKNOWN_LEADER_EPOCH),
        ):
            with pytest.raises(BrokerError) as raised:
                world.partition.check_follower(stranger, epoch)
            assert raised.value.code is code


def test_a_closed_partition_fails_its_waits_and_wakes_its_readers() -> None:
    async def story() -> None:
        world = World()
        end = world.append()
        waiting = asyncio.ensure_future(world.partition.wait_replicated(end))
        reader = asyncio.ensure_future(data_waiter([world.partition.fetches], 1000).wait(60_000))
        await run_pending()
        world.partition.close()
        await reader
        with pytest.raises(BrokerError) as raised:
            await waiting
        assert raised.value.code is ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
        assert not world.partition.is_leader

    run(story())


# Readers that wait


def test_readers_hear_of_records_only_once_they_may_see_them() -> None:
    async def story() -> None:
        world = World()
        waiter = data_waiter([world.partition.fetches], 1)
        waiting = asyncio.ensure_future(waiter.wait(60_000))
        await run_pending()
        world.append()
        await run_pending()
        assert not waiting.done()
        world.syncs.run_one()
        await waiting
        assert not world.partition.fetches.watchers

    run(story())


def test_bytes_of_several_appends_under_one_sync_are_added_up() -> None:
    async def story() -> None:
        world = World(TopicConfig(flush_messages=1))
        size = len(batch_of(b"v"))
        enough, too_few = (
            data_waiter([world.partition.fetches], 3 * size),
            data_waiter([world.partition.fetches], 3 * size + 1),
        )
        waits = [asyncio.ensure_future(each.wait(60_000)) for each in (enough, too_few)]
        await run_pending()
        for _ in range(3):
            world.append()
        await run_pending()
        assert not any(each.done() for each in waits)
        world.syncs.run_one()
        world.syncs.run_one()
        await run_pending()
        assert (waits[0].done(), waits[1].done()) == (True, False)
        world.decide(ME)  # anything but data wakes at once
        await waits[1]

    run(story())


def test_readers_of_committed_data_sleep_until_more_is_stable() -> None:
    async def story() -> None:
        world = World(TopicConfig())
        log = world.partition.log

        def transactional(sequence: int) -> bytearray:
            return batch_of(b"v", producer=(5, 0, sequence), is_transactional=True)

        async def begin_to_wait() -> asyncio.Future[None]:
            committed = data_waiter([world.partition.fetches], 1, is_committed=True)
            waiting = asyncio.ensure_future(committed.wait(60_000))
            await run_pending()
            return waiting

        first = await begin_to_wait()
        world.partition.append(transactional(0), ACKS_ALL)
        await first  # nothing was reported before: it has to look
        waiting = await begin_to_wait()
        world.partition.append(transactional(1), ACKS_ALL)
        world.append()
        await run_pending()
        assert not waiting.done()
        assert log.last_stable_offset(BLOCKING) == 0
        world.partition.append(marker_of(5, is_commit=True), ACKS_ALL, COORDINATOR)
        await waiting
        assert log.last_stable_offset(BLOCKING) == log.high_watermark == 4

    run(story())


def test_sessions_and_waiting_fetches_are_notified_separately() -> None:
    world = World(TopicConfig())
    session = FetchSession(1, False, False, 0)
    key = FetchKey("t", 0)
    session.update([WantedPartition(key, 0, 1000)], [])
    session.record_read(key, session.marked[key], has_more=False)
    world.append()
    assert list(session.partitions_to_read()) == []
    world.partition.fetches.sessions[session] = key
    world.append()
    assert [each.key for each in session.partitions_to_read()] == [key]
    session.record_read(key, session.marked[key], has_more=False)
    world.decide(ME)
    assert [each.key for each in session.partitions_to_read()] == [key]


def test_a_reader_is_woken_to_find_out_where_the_producers_are_not_in_memory() -> None:
    async def story() -> None:
        world = World(TopicConfig())
        waiting = asyncio.ensure_future(
            data_waiter([world.partition.fetches], 1, is_committed=True).wait(60_000)
        )
        await run_pending()
        with pytest.MonkeyPatch.context() as patch:
            unknown = property(lambda _producers: False)
            patch.setattr(type(world.partition.log.producers), "is_loaded", unknown)
            world.append()
            await waiting

    run(story())


# Where a reader's copy parts from ours


def test_a_fetch_with_an_ended_epoch_gets_its_end() -> None:
    world = World(TopicConfig())
    world.append()
    world.append()
    world.decide(ME)
    world.append()
    partition = world.partition
    assert partition.divergence(BLOCKING, 2, 3) is None
    assert partition.divergence(BLOCKING, 1, 2) is None
    longer = partition.divergence(BLOCKING, 1, 3)
    assert longer is not None
    assert (longer.epoch, longer.end_offset) == (1, 2)
    with pytest.raises(BrokerError) as raised:
        partition.divergence(BLOCKING, 7, 1)
    assert raised.value.code is ErrorCode.OFFSET_OUT_OF_RANGE


# Everything at once


@pytest.mark.parametrize("seed", range(20))
def test_only_durable_records_become_visible_whatever_happens(seed: int) -> None:
    """Appends, syncs that are slow, followers, epochs: the high watermark never goes back while we
    lead, never passes an in-sync follower, and never what the flush policy owes the disk."""

    async def story() -> None:
        random = Random(seed)
        world = World(TopicConfig(flush_messages=random.choice((1, 3))), replicas=(ME, OTHER))
        partition, waits = world.partition, {}
        before = 0
        for _ in range(120):
            step = random.choice(("append", "append", "sync", "fetch", "fetch", "isr", "epoch"))
            if step == "append":
                end = world.append()
                waits[end] = asyncio.ensure_future(partition.wait_replicated(end))
            elif step == "sync" and world.syncs.waiting:
                world.syncs.run_one()
            elif step == "fetch":
                world.fetched(OTHER, random.randint(before, partition.log.log_end_offset))
            elif step == "isr":
                world.decide(ME, in_sync=random.choice(((ME,), (ME, OTHER))), new=False)
            elif step == "epoch" and random.random() < 0.1:
                world.decide(ME)
            await run_pending()
            state, synced = partition.leader_state, partition.log.recovery_point
            assert state is not None
            high_watermark = world.high_watermark
            assert high_watermark >= before
            if high_watermark > before:
                required = partition.flush_required_to
                assert high_watermark <= max(synced, 0) or synced >= required
                if OTHER in state.in_sync_replicas:
                    assert high_watermark <= state.followers[OTHER].log_end_offset
            for end, wait in waits.items():
                assert wait.done() == (end <= high_watermark)
            before = high_watermark
        for wait in waits.values():
            wait.cancel()

    run(story())


# The flush policy, when the leader changes


def test_a_leader_that_was_replaced_and_has_truncated_commits_what_is_left() -> None:
    world = World(replicas=(ME, OTHER))
    for _ in range(3):
        world.append()
    world.syncs.run_all()
    world.decide(OTHER)
    world.partition.log.truncate_to(1)
    world.decide(ME)
    world.fetched(OTHER, 1)
    world.syncs.run_all()
    assert world.high_watermark == 1, "although it had to sync more than is left"


def test_what_a_follower_has_not_synced_is_not_committed_when_it_leads() -> None:
    world = World(replicas=(ME, OTHER))
    world.decide(OTHER)
    world.partition.log.append_as_follower(placed(batch_of(b"v"), 0, epoch=world.epoch))
    world.partition.when_replica_synced(lambda _error: None)
    world.decide(ME)
    world.fetched(OTHER, 1)
    assert world.high_watermark == 0
    world.syncs.run_all()
    assert world.high_watermark == 1
