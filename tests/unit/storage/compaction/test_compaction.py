"""Compaction of a real log on the in-memory disk: stories, then anything that may happen."""

from __future__ import annotations

from dataclasses import replace

import pytest
from tests.unit.storage.compaction.compaction_world import CONFIG, PATH, RETENTION_MS, World
from tests.unit.storage.log_making import batch_of, placed

from ottla.base.files.readers import BLOCKING
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record


def offsets(world: World) -> list[int]:
    return sorted(world.present())


def test_of_each_key_only_the_newest_record_stays() -> None:
    world = World()
    for value in (b"1", b"2", b"3"):
        world.produce([(b"a", value), (b"b", value)])
    world.produce([(b"c", b"1")])
    world.log.roll()
    summary = world.compact()
    assert summary is not None
    assert summary.end_offset == 7
    assert offsets(world) == [4, 5, 6]
    world.check()


def test_the_end_of_a_new_segment_stays_though_the_last_old_one_was_empty() -> None:
    """A segment is closed empty where the next offset is too far away for its index."""
    world = World()
    world.produce([(b"a", b"1")])
    world.produce([(b"a", b"2")])
    world.log.roll()
    far = batch_of(b"3", key=b"a")
    world.log.append_as_follower(placed(far, 2**31 + 10))
    world.log.roll()
    assert [each.size > 0 for each in world.log.segments] == [True, False, True, False]
    world.log.update_high_watermark(world.log.log_end_offset)
    world.compact()
    assert world.log.segments.base_offsets[0] == 0
    kept = [(header.last_offset, header.records_count) for header, _ in world.batches()]
    assert kept == [(1, 0), (2**31 + 10, 1)]


def test_the_active_segment_is_left_alone() -> None:
    world = World()
    world.produce([(b"a", b"1")])
    world.log.roll()
    world.produce([(b"a", b"2")])
    world.compact()
    assert offsets(world) == [0, 1]


def test_a_tombstone_removes_its_key_at_once_and_itself_after_a_while() -> None:
    world = World()
    world.produce([(b"a", b"1")])
    world.produce([(b"a", None), (b"b", b"1")])
    world.log.roll()
    world.compact()
    assert offsets(world) == [1, 2]
    world.clock.advance_ms(RETENTION_MS - 1)
    world.produce([(b"c", b"1")])
    world.log.roll()
    world.compact()
    assert offsets(world) == [1, 2, 3]
    world.clock.advance_ms(1)
    world.produce([(b"d", b"1")])
    world.log.roll()
    world.compact()
    assert offsets(world) == [2, 3, 4]
    world.check()


def test_timestamps_survive_the_delete_horizon() -> None:
    world = World()
    world.produce([(b"a", b"1"), (b"b", None), (b"c", b"1")])
    world.log.roll()
    world.compact()
    assert world.present()[1] == world.written[1].record
    header = world.batches()[0][0]
    assert header.delete_horizon_ms == world.clock.now_ms() + RETENTION_MS


def test_aborted_records_go_and_push_out_nothing() -> None:
    world = World()
    world.produce([(b"a", b"committed")])
    world.produce([(b"a", b"aborted")], producer=1, is_transactional=True)
    world.end(1, is_commit=False)
    world.produce([(b"z", b"1")])
    world.log.roll()
    world.compact()
    assert offsets(world) == [0, 3]
    world.check()


def test_a_marker_goes_once_its_records_are_gone_and_readers_had_time_to_see_it() -> None:
    world = World()
    world.produce([(b"a", b"aborted")], producer=1, is_transactional=True)
    world.end(1, is_commit=False)
    world.produce([(b"z", b"1")], producer=1)  # so that neither is the producer's last word
    world.log.roll()
    assert markers_after_compaction(world) == [1]  # the records have gone in this very round
    assert markers_after_compaction(world) == [1]  # now it is idle, and its time begins
    world.clock.advance_ms(RETENTION_MS - 1)
    assert markers_after_compaction(world) == [1]
    world.clock.advance_ms(1)
    assert markers_after_compaction(world) == []
    world.check()


def markers_after_compaction(world: World) -> list[int]:
    world.produce([(b"more", b"1")])
    world.log.roll()
    assert world.compact() is not None
    return [header.base_offset for header, _ in world.batches() if header.is_control]


def test_the_marker_of_a_committed_transaction_stays_with_its_records() -> None:
    world = World()
    world.produce([(b"a", b"committed")], producer=1, is_transactional=True)
    world.end(1, is_commit=True)
    world.produce([(b"z", b"1")], producer=1)
    for _ in range(3):
        assert markers_after_compaction(world) == [1]
        world.clock.advance_ms(RETENTION_MS)


def test_the_last_word_of_a_producer_outlives_its_records() -> None:
    world = World()
    world.produce([(b"a", b"1"), (b"b", b"1")], producer=1)
    world.produce([(b"a", b"2"), (b"b", b"2")])
    world.log.roll()
    world.compact()
    emptied, _ = world.batches()[0]
    assert (emptied.records_count, emptied.base_sequence, emptied.last_sequence) == (0, 0, 1)
    world.log.producers.load(BLOCKING).expire(world.clock.now_ms() + 1000, expiration_ms=0)
    world.produce([(b"c", b"1")])
    world.log.roll()
    world.compact()
    assert [header.base_offset for header, _ in world.batches()] == [2, 4]


def test_a_full_map_ends_the_round_and_the_next_one_continues() -> None:
    world = World(map_keys_max=2)
    for value in (b"1", b"2"):
        world.produce([(key, value) for key in (b"a", b"b", b"c")])
    world.log.roll()
    ends = []
    while (summary := world.compact()) is not None:
        ends.append(summary.end_offset)
    assert ends == [2, 4, 6]
    assert offsets(world) == [3, 4, 5]
    world.check()


def test_a_tombstone_beyond_the_end_of_the_round_gets_no_horizon_yet() -> None:
    world = World(map_keys_max=1)
    world.produce([(b"a", b"1")])
    world.produce([(b"b", b"1")])
    world.produce([(b"c", None)])
    world.log.roll()
    summary = world.compact()
    assert summary is not None
    assert summary.end_offset == 1
    assert [header.delete_horizon_ms for header, _ in world.batches()] == [None] * 3
    world.compact()
    world.compact()
    assert world.batches()[-1][0].delete_horizon_ms == world.clock.now_ms() + RETENTION_MS


def test_small_neighbours_become_one_segment() -> None:
    world = World()
    for number in range(6):
        world.produce([(b"%d" % number, b"1")])
        world.log.roll()
    world.compact()
    assert [segment.base_offset for segment in world.log.segments] == [0, 6]
    assert offsets(world) == [0, 1, 2, 3, 4, 5]
    world.check()


def test_records_without_a_key_go() -> None:
    world = World(config=replace(CONFIG, cleanup_policy=("delete",)))
    world.log.append_as_leader(
        build_batch([Record(0, 1, None, b"lost"), Record(1, 1, b"k", b"")]), 0
    )
    world.log.update_high_watermark(2)
    world.log.update_config(CONFIG)
    world.log.roll()
    world.compact()
    assert offsets(world) == [1]


@pytest.mark.parametrize("codec", [0, 1, 2, 3, 4])
def test_a_batch_keeps_its_codec(codec: int) -> None:
    world = World()
    world.produce([(b"a", b"1" * 50), (b"b", b"1" * 50), (b"a", b"2" * 50)], codec=codec)
    world.log.roll()
    world.compact()
    header, _ = world.batches()[0]
    assert (header.codec, header.records_count, header.last_offset) == (codec, 2, 2)
    world.check()


def test_log_append_time_survives() -> None:
    world = World(config=replace(CONFIG, message_timestamp_type="LogAppendTime"))
    world.produce([(b"a", b"1"), (b"a", None)])
    appended_ms = world.clock.now_ms()
    world.log.roll()
    world.clock.advance_ms(77)
    world.compact()
    assert [record.timestamp for record in world.present().values()] == [appended_ms]


def test_what_retention_deletes_too_is_clean_from_its_new_start() -> None:
    config = replace(CONFIG, cleanup_policy=("compact", "delete"), retention_ms=10_000)
    world = World(config=config)
    world.produce([(b"a", b"1")])
    world.log.roll()
    world.compact()
    world.clock.advance_ms(20_000)
    world.produce([(b"b", b"1")])
    world.log.enforce_retention()
    assert world.log.log_start_offset == 1
    world.log.roll()
    summary = world.compact()
    assert summary is not None
    assert summary.end_offset == 2
    assert offsets(world) == [1]


def test_a_new_segment_still_ends_where_the_old_ones_did() -> None:
    world = World()
    world.produce([(b"a", b"1")])
    world.produce([(b"b", b"1")])
    world.log.roll()
    world.produce([(b"b", b"2")])
    world.log.roll()
    world.log.update_config(replace(CONFIG, segment_bytes=100))  # so each is a group of its own
    world.compact()
    last, _ = world.batches()[1]
    assert (last.base_offset, last.next_offset, last.records_count) == (1, 2, 0)
    assert offsets(world) == [0, 2]


def test_a_segment_that_loses_nothing_stays_as_it_is() -> None:
    world = World(config=replace(CONFIG, segment_bytes=100))
    for key in (b"a", b"b", b"c"):
        world.produce([(key, b"1")])
        world.log.roll()
    world.produce([(b"b", b"2")])
    world.log.roll()
    before = list(world.log.segments)
    summary = world.compact()
    assert summary is not None
    assert [old is new for old, new in zip(before, world.log.segments, strict=True)] == [
        True, False, True, True, True,
    ]  # fmt: skip
    assert offsets(world) == [0, 2, 3]
    assert not [name for name in world.disk.list_directory(PATH) if name.endswith(".cleaned")]
