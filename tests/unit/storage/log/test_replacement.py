from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from tests.unit.storage.log_making import (
    PATH,
    SMALL,
    Place,
    append,
    append_many,
    names_in,
    read_records,
    values_of,
)

from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.files.file_names import CLEANED_SUFFIX
from ottla.storage.log.log import Log
from ottla.storage.log.recovery import Checkpoint
from ottla.storage.segments.scanning import walk_headers
from ottla.storage.segments.segment import Segment
from ottla.storage.segments.segment_files import create_segment

COMPACTED = replace(SMALL, cleanup_policy=("compact",))


@pytest.fixture
def place() -> Place:
    return Place(config=COMPACTED)


def clean(log: Log, sources: list[Segment], keep_every: int) -> Segment:
    """What compaction would leave of some segments: every so-many-th batch, in a synced file."""
    cleaned = create_segment(
        log.context.files,
        log.path,
        sources[0].base_offset,
        log.config,
        now_ms=log.clock.now_ms(),
        random=Random(1),
        state=CLEANED_SUFFIX,
    )
    for source in sources:
        for position, header in walk_headers(source.file, 0, source.size):
            if header.base_offset % keep_every == 0:
                at = cleaned.write(source.file.read_at(position, header.size_bytes))
                cleaned.note(at, header)
    cleaned.seal()
    cleaned.sync()
    cleaned.close()
    return log.open_cleaned(sources[0].base_offset)


def test_cleaned_segments_take_the_place_of_their_sources(place: Place) -> None:
    log = place.open()
    append_many(log, 100)
    sources = log.segments[:3]
    end = log.segments[3].base_offset
    assert log.replace_segments([clean(log, sources, 5)], sources)
    expected = [b"%d" % offset for offset in range(100) if offset >= end or offset % 5 == 0]
    assert values_of(log) == expected
    assert log.segments.base_offsets[:2] == [0, end]
    assert len(names_in(place.disk, ".log.deleted")) == 3
    assert not names_in(place.disk, ".swap")
    assert values_of(place.reopen_clean(log)) == expected


def test_readers_that_have_a_range_of_an_old_segment_can_finish(place: Place) -> None:
    log = place.open()
    append_many(log, 60)
    found = log.read(0, 1 << 20, 60)
    before = found.records.read()
    sources = log.segments[:2]
    log.replace_segments([clean(log, sources, 2)], sources)
    assert found.records.read() == before


def test_appending_and_cleaning_again_go_on(place: Place) -> None:
    log = place.open()
    for _ in range(4):
        append_many(log, 60)
        sources = log.segments[:-1]
        assert log.replace_segments([clean(log, sources, 7)], sources)
    assert [record.offset % 7 for record in read_records(log, 0, 200)] == [0] * 29
    log = place.reopen_clean(log)
    assert log.log_end_offset == 240


def test_sources_that_have_left_the_log_stop_the_swap(place: Place) -> None:
    log = place.open()
    append_many(log, 60)
    sources = log.segments[:2]
    cleaned = clean(log, sources, 5)
    log.advance_log_start(log.segments[1].base_offset)
    log.enforce_retention()
    expected = values_of(log)
    assert not log.replace_segments([cleaned], sources)
    assert values_of(log) == expected
    assert not names_in(place.disk, ".cleaned")


def test_the_recovery_point_is_behind_what_is_swapped(place: Place) -> None:
    log = place.open()
    append_many(log, 60)
    sources = log.segments[:2]
    log.replace_segments([clean(log, sources, 5)], sources)
    assert place.checkpoints[-1] >= log.segments[1].base_offset


def test_snapshots_of_swallowed_segments_go(place: Place) -> None:
    log = place.open()
    append_many(log, 60)
    sources = log.segments[:3]
    log.replace_segments([clean(log, sources, 5)], sources)
    kept = {int(name[:20]) for name in names_in(place.disk, ".snapshot")}
    assert kept == set(log.segments.base_offsets) - {0}


@pytest.mark.parametrize("steps", range(30))
@pytest.mark.parametrize("is_power_cut", [False, True], ids=["kill", "power cut"])
def test_a_crash_at_any_step_leaves_the_old_or_the_new(steps: int, is_power_cut: bool) -> None:
    place, random = Place(config=COMPACTED), Random(steps)
    log = place.open()
    append_many(log, 60)
    sources = log.segments[:3]
    end = log.segments[3].base_offset
    cleaned = clean(log, sources, 5)
    kinds = ["rename", "sync_directory", "sync", "write", "remove", "truncate"]
    place.disk.fail(kinds, skip=steps, times=None)
    try:
        log.replace_segments([cleaned], sources)
    except StorageUnavailable:
        pass
    place.disk.heal()
    place.disk.crash(random) if is_power_cut else place.disk.kill()
    point = place.checkpoints[-1] if place.checkpoints else 0
    log = place.open(Checkpoint(point))
    old = [b"%d" % offset for offset in range(60)]
    new = [value for value in old if int(value) >= end or int(value) % 5 == 0]
    if not point and is_power_cut:  # nothing was synced yet, so the end may be lost
        assert values_of(log) == old[: log.log_end_offset]
        return
    assert log.log_end_offset == 60
    assert values_of(log) in (old, new) or is_old_behind(values_of(log), old, new)
    append(log, b"60")
    assert values_of(log)[-1] == b"60"
    assert not [name for name in names_in(place.disk) if name.startswith(f"{PATH}/.")]


def is_old_behind(found: list[bytes], old: list[bytes], new: list[bytes]) -> bool:
    """The last old segment, whose records the new one has too, may outlive the crash."""
    return set(new) <= set(found) <= set(old) and found == sorted(found, key=int)


def test_several_cleaned_segments_are_swapped_together(place: Place) -> None:
    log = place.open()
    append_many(log, 60)
    sources = log.segments[:4]
    halves = [clean(log, sources[:2], 3), clean(log, sources[2:], 3)]
    assert log.replace_segments(halves, sources)
    end = log.segments[2].base_offset
    expected = [b"%d" % each for each in range(60) if each >= end or each % 3 == 0]
    assert values_of(log) == expected
    assert values_of(place.reopen_clean(log)) == expected
