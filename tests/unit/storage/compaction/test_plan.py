"""Which log, from where to where, in which groups."""

from __future__ import annotations

from dataclasses import replace

import pytest

from ottla.base.ids import TopicPartition
from ottla.config.topic_options import TopicConfig
from ottla.storage.compaction.plan import (
    GROUPED_MAX,
    Cleanable,
    LogSummary,
    SegmentSummary,
    choose_dirtiest,
    group_segments,
    segments_between,
    should_clean,
    survey,
)

PARTITION = TopicPartition("t", 0)
NOW_MS = 1_000_000
CONFIG = TopicConfig(cleanup_policy=("compact",))


def segment(base_offset: int, size_bytes: int = 100, **fields: int) -> SegmentSummary:
    summary = SegmentSummary(base_offset, size_bytes, largest_timestamp=0, first_timestamp=0)
    return summary._replace(**fields)


def log_of(
    *segments: SegmentSummary,
    checkpoint: int | None = None,
    config: TopicConfig = CONFIG,
    start: int = 0,
    end: int = 1000,
    stable: int = 1000,
) -> LogSummary:
    return LogSummary(PARTITION, config, segments, start, end, stable, checkpoint)


def test_a_log_that_was_never_cleaned_is_dirty_up_to_the_active_segment() -> None:
    found = survey(log_of(segment(0), segment(10), segment(20)), NOW_MS)
    assert (found.first_dirty_offset, found.first_uncleanable_offset) == (0, 20)
    assert (found.clean_bytes, found.dirty_bytes, found.dirty_ratio) == (0, 200, 1.0)


def test_cleaning_continues_at_the_checkpoint() -> None:
    found = survey(log_of(segment(0), segment(10), segment(20), checkpoint=10), NOW_MS)
    assert (found.first_dirty_offset, found.clean_bytes, found.dirty_bytes) == (10, 100, 100)
    assert not found.is_checkpoint_wrong


def test_a_segment_that_is_partly_clean_counts_on_both_sides() -> None:
    found = survey(log_of(segment(0), segment(10), segment(20), checkpoint=15), NOW_MS)
    assert (found.clean_bytes, found.dirty_bytes) == (200, 100)


@pytest.mark.parametrize(("checkpoint", "dirty_bytes"), [(5, 100), (10, 0)])
def test_a_checkpoint_at_the_start_or_the_end_of_the_log_is_right(
    checkpoint: int, dirty_bytes: int
) -> None:
    log = log_of(segment(5), segment(10, 0), checkpoint=checkpoint, start=5, end=10, stable=10)
    found = survey(log, NOW_MS)
    assert (found.first_dirty_offset, found.is_checkpoint_wrong) == (checkpoint, False)
    assert found.dirty_bytes == dirty_bytes


@pytest.mark.parametrize("checkpoint", [3, 1001])
def test_a_checkpoint_outside_the_log_is_set_back_to_its_start(checkpoint: int) -> None:
    log = log_of(segment(5), segment(10), segment(20), checkpoint=checkpoint, start=5)
    found = survey(log, NOW_MS)
    assert found.first_dirty_offset == 5
    assert found.is_checkpoint_wrong


def test_nothing_is_cleaned_past_the_last_stable_offset() -> None:
    found = survey(log_of(segment(0), segment(10), segment(20), stable=15), NOW_MS)
    assert found.first_uncleanable_offset == 10
    assert found.dirty_bytes == 100


def test_nothing_is_cleaned_where_the_first_segment_is_not_stable() -> None:
    found = survey(log_of(segment(0), segment(10), stable=5), NOW_MS)
    assert found.dirty_bytes == 0
    assert not should_clean(found, CONFIG)


def test_segments_younger_than_the_lag_stay() -> None:
    config = replace(CONFIG, min_compaction_lag_ms=1000)
    young = segment(10, largest_timestamp=NOW_MS - 999)
    old = segment(0, largest_timestamp=NOW_MS - 1000)
    found = survey(log_of(old, young, segment(20), config=config), NOW_MS)
    assert found.first_uncleanable_offset == 10


def test_only_dirty_segments_are_asked_for_their_age() -> None:
    config = replace(CONFIG, min_compaction_lag_ms=1000)
    young = segment(0, largest_timestamp=NOW_MS)
    log = log_of(young, segment(10), segment(20), config=config, checkpoint=10)
    assert survey(log, NOW_MS).first_uncleanable_offset == 20


def test_a_log_is_overdue_once_its_oldest_dirty_record_exceeds_the_largest_lag() -> None:
    config = replace(CONFIG, max_compaction_lag_ms=1000, min_cleanable_dirty_ratio=1.0)
    log = log_of(
        segment(0, size_bytes=9000), segment(10, first_timestamp=NOW_MS - 1500), segment(20),
        checkpoint=10, config=config,
    )  # fmt: skip
    assert survey(log, NOW_MS).delay_ms == 500
    assert should_clean(survey(log, NOW_MS), config)
    assert not should_clean(survey(log, NOW_MS - 500), config)


def test_a_log_is_cleaned_above_its_dirty_ratio_only() -> None:
    config = replace(CONFIG, min_cleanable_dirty_ratio=0.5)
    log = log_of(segment(0), segment(10), segment(20), checkpoint=10, config=config)
    assert not should_clean(survey(log, NOW_MS), config)
    fuller = log_of(segment(0), segment(10, 101), segment(20), checkpoint=10, config=config)
    assert should_clean(survey(fuller, NOW_MS), config)


def test_an_empty_log_has_nothing_to_clean() -> None:
    found = survey(log_of(segment(0, 0), end=0, stable=0), NOW_MS)
    assert (found.dirty_bytes, found.dirty_ratio) == (0, 0.0)


def test_the_dirtiest_log_comes_first() -> None:
    def cleanable(name: str, dirty_bytes: int) -> Cleanable:
        return Cleanable(TopicPartition(name, 0), 0, 9, 100, dirty_bytes, 0, False)

    chosen = choose_dirtiest([cleanable("a", 10), cleanable("b", 90), cleanable("c", 50)])
    assert chosen is not None
    assert chosen.partition.topic == "b"
    assert choose_dirtiest([]) is None


# Groups


def bases(groups: list[list[SegmentSummary]]) -> list[list[int]]:
    return [[each.base_offset for each in group] for group in groups]


def test_neighbours_become_one_segment_as_long_as_they_fit() -> None:
    config = replace(CONFIG, segment_bytes=250)
    groups = group_segments([segment(at) for at in (0, 10, 20, 30)], config, 40)
    assert bases(groups) == [[0, 10], [20, 30]]


def test_a_segment_that_is_too_large_is_a_group_of_its_own() -> None:
    config = replace(CONFIG, segment_bytes=100)
    groups = group_segments([segment(0, 50), segment(10, 300), segment(20, 50)], config, 30)
    assert bases(groups) == [[0], [10], [20]]


@pytest.mark.parametrize("field", ["offset_index_bytes", "time_index_bytes"])
def test_the_indexes_of_a_group_must_fit_too(field: str) -> None:
    config = replace(CONFIG, segment_index_bytes=100)
    groups = group_segments([segment(at, **{field: 60}) for at in (0, 10)], config, 20)
    assert bases(groups) == [[0], [10]]


def test_offsets_of_a_group_must_be_in_reach_of_its_base() -> None:
    far = 2**31
    assert bases(group_segments([segment(0), segment(far - 10)], CONFIG, far)) == [[0, far - 10]]
    apart = bases(group_segments([segment(0), segment(far - 10)], CONFIG, far + 1))
    assert apart == [[0], [far - 10]]


def test_an_empty_segment_is_never_out_of_reach() -> None:
    groups = group_segments([segment(0), segment(2**40, size_bytes=0)], CONFIG, 2**41)
    assert bases(groups) == [[0, 2**40]]


def test_the_range_between_two_offsets_begins_inside_a_segment() -> None:
    segments = [segment(at) for at in (0, 10, 20)]
    assert [each.base_offset for each in segments_between(segments, 15, 21)] == [10, 20]
    assert [each.base_offset for each in segments_between(segments, 15, 20)] == [10]
    assert segments_between(segments, 20, 20) == []


def test_a_group_has_no_more_segments_than_can_be_replaced_at_once() -> None:
    segments = [segment(number, 1) for number in range(3 * GROUPED_MAX)]
    groups = group_segments(segments, CONFIG, 3 * GROUPED_MAX)
    assert list(map(len, groups)) == [GROUPED_MAX] * 3
