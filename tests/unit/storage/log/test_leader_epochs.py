from __future__ import annotations

from collections.abc import Iterable
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.support.volumes import Volume

from ottla.base.files.readers import BLOCKING
from ottla.storage.errors import CorruptLogError
from ottla.storage.log.leader_epochs import UNDEFINED, EpochEntry, LeaderEpochs
from ottla.testing.filesystem import MemoryDisk

NAME = "leader-epoch-checkpoint"


def open_epochs(volume: Volume) -> LeaderEpochs:
    return LeaderEpochs.open(BLOCKING, volume.files, volume.path(NAME))


def filled(volume: Volume, *entries: tuple[int, int]) -> LeaderEpochs:
    epochs = open_epochs(volume)
    epochs.assign_all(EpochEntry(*entry) for entry in entries)
    return epochs


def test_without_a_file_no_epoch_is_known(volume: Volume) -> None:
    epochs = open_epochs(volume)
    assert epochs.entries == ()
    assert epochs.latest_epoch is None
    assert epochs.end_offset_for(0, 10) == UNDEFINED == (-1, -1)
    assert epochs.epoch_for_offset(0) is None
    assert volume.files.list_directory(volume.root) == []


def test_epochs_are_written_as_kafka_writes_them(volume: Volume) -> None:
    epochs = open_epochs(volume)
    assert epochs.assign(0, 0)
    assert epochs.assign(3, 100)
    assert volume.get(NAME) == b"0\n2\n0 0\n3 100\n"
    assert open_epochs(volume).entries == ((0, 0), (3, 100))


def test_an_epoch_begins_once(volume: Volume) -> None:
    epochs = filled(volume, (2, 10))
    assert not epochs.assign(2, 10)
    assert not epochs.assign(2, 50)
    assert epochs.entries == ((2, 10),)


def test_only_changes_are_written(disk: MemoryDisk) -> None:
    epochs = filled(Volume(disk, "/data"), (2, 10))
    before = disk.operations["sync"]
    epochs.assign(2, 10)
    epochs.assign(2, 500)
    assert disk.operations["sync"] == before
    epochs.assign(3, 500)
    assert disk.operations["sync"] == before + 1


@pytest.mark.parametrize(
    ("new", "left"),
    [
        ((4, 40), [(1, 10), (2, 20), (3, 30), (4, 40)]),
        ((4, 30), [(1, 10), (2, 20), (4, 30)]),
        ((4, 25), [(1, 10), (2, 20), (4, 25)]),
        ((4, 0), [(4, 0)]),
        ((3, 25), [(1, 10), (2, 20), (3, 25)]),
        ((2, 40), [(1, 10), (2, 40)]),
        ((2, 15), [(1, 10), (2, 15)]),
        ((1, 5), [(1, 5)]),
        ((0, 99), [(0, 99)]),
    ],
)
def test_a_new_epoch_drops_what_contradicts_it(
    volume: Volume, new: tuple[int, int], left: list[tuple[int, int]]
) -> None:
    epochs = filled(volume, (1, 10), (2, 20), (3, 30))
    assert epochs.assign(*new)
    assert list(epochs.entries) == left
    assert open_epochs(volume).entries == epochs.entries


@pytest.mark.parametrize("entry", [(-1, 0), (0, -1), (2**31, 0), (0, 2**63)])
def test_an_impossible_epoch_is_refused(volume: Volume, entry: tuple[int, int]) -> None:
    with pytest.raises(ValueError, match="invalid leader epoch"):
        open_epochs(volume).assign(*entry)


@pytest.mark.parametrize(
    ("asked", "answer"),
    [
        (-1, (-1, -1)),  # unknown to the follower
        (0, (0, 10)),  # older than the log: continue where it starts
        (1, (1, 20)),
        (2, (2, 50)),
        (3, (2, 50)),  # never led here: the largest epoch before it
        (4, (2, 50)),
        (5, (5, 100)),  # the current one ends with the log
        (6, (-1, -1)),  # later than any known
    ],
)
def test_an_epoch_ends_where_the_next_one_begins(
    volume: Volume, asked: int, answer: tuple[int, int]
) -> None:
    epochs = filled(volume, (1, 10), (2, 20), (5, 50))
    assert epochs.end_offset_for(asked, log_end_offset=100) == answer


def test_the_epoch_of_an_offset(volume: Volume) -> None:
    epochs = filled(volume, (1, 10), (2, 20), (5, 50))
    found = [epochs.epoch_for_offset(offset) for offset in (9, 10, 19, 20, 49, 50, 1000)]
    assert found == [None, 1, 1, 2, 2, 5, 5]


@pytest.mark.parametrize(
    ("end_offset", "left"),
    [(100, 3), (51, 3), (50, 2), (21, 2), (20, 1), (10, 0), (0, 0)],
)
def test_truncating_at_the_end_forgets_later_epochs(
    volume: Volume, end_offset: int, left: int
) -> None:
    epochs = filled(volume, (1, 10), (2, 20), (5, 50))
    epochs.truncate_from_end(end_offset)
    assert list(epochs.entries) == [(1, 10), (2, 20), (5, 50)][:left]


@pytest.mark.parametrize(
    ("start_offset", "left"),
    [
        (0, [(1, 10), (2, 20), (5, 50)]),
        (10, [(1, 10), (2, 20), (5, 50)]),
        (15, [(1, 15), (2, 20), (5, 50)]),
        (20, [(2, 20), (5, 50)]),
        (49, [(2, 49), (5, 50)]),
        (50, [(5, 50)]),
        (99, [(5, 99)]),
    ],
)
def test_truncating_at_the_start_keeps_the_epoch_that_continues(
    volume: Volume, start_offset: int, left: list[tuple[int, int]]
) -> None:
    epochs = filled(volume, (1, 10), (2, 20), (5, 50))
    epochs.truncate_from_start(start_offset)
    assert list(epochs.entries) == left


def test_truncating_costs_no_sync_until_it_is_written(disk: MemoryDisk) -> None:
    volume = Volume(disk, "/data")
    epochs = filled(volume, (1, 10), (2, 20), (5, 50))
    before = dict(disk.operations)
    epochs.truncate_from_end(30)
    epochs.truncate_from_start(15)
    assert disk.operations == before
    assert epochs.is_dirty
    epochs.write()
    assert not epochs.is_dirty
    assert open_epochs(volume).entries == ((1, 15), (2, 20))


def test_truncating_nothing_leaves_nothing_to_write(volume: Volume) -> None:
    epochs = filled(volume, (1, 10), (2, 20))
    epochs.truncate_from_end(30)
    epochs.truncate_from_start(10)
    assert not epochs.is_dirty


def test_a_failed_write_is_still_to_be_done(disk: MemoryDisk) -> None:
    epochs = filled(Volume(disk, "/data"), (1, 10))
    disk.fail("sync")
    with pytest.raises(OSError):
        epochs.assign(2, 20)
    assert epochs.is_dirty


def test_an_epoch_that_could_not_be_written_is_written_when_assigned_again(
    disk: MemoryDisk,
) -> None:
    volume = Volume(disk, "/data")
    epochs = filled(volume, (1, 10))
    disk.fail("sync")
    with pytest.raises(OSError):
        epochs.assign(2, 20)
    epochs.assign(2, 20)
    assert open_epochs(volume).entries == ((1, 10), (2, 20))


def test_an_announced_epoch_is_written_with_its_first_records(disk: MemoryDisk) -> None:
    volume = Volume(disk, "/data")
    epochs = filled(volume, (1, 10))
    before = dict(disk.operations)
    epochs.announce(2, 20)
    assert disk.operations == before
    assert epochs.entries == ((1, 10), (2, 20))
    assert not epochs.is_dirty  # without records it is not worth a write
    assert not epochs.assign(2, 20)
    assert open_epochs(volume).entries == ((1, 10), (2, 20))


def test_an_assigned_epoch_survives_a_power_cut() -> None:
    for seed in range(30):
        disk = MemoryDisk()
        disk.make_directory("/data")
        disk.sync_directory("/")
        volume = Volume(disk, "/data")
        epochs = filled(volume, (1, 10))
        epochs.assign(2, 20)
        epochs.truncate_from_end(15)
        disk.crash(Random(seed))
        assert open_epochs(volume).entries == ((1, 10), (2, 20))


def test_everything_can_be_forgotten(volume: Volume) -> None:
    filled(volume, (1, 10)).clear()
    assert volume.get(NAME) == b"0\n0\n"


def test_epochs_follow_their_file(volume: Volume) -> None:
    epochs = filled(volume, (1, 10))
    volume.files.rename(volume.path(NAME), volume.path("moved"))
    epochs.renamed(volume.path("moved"))
    epochs.assign(2, 20)
    assert volume.get("moved") == b"0\n2\n1 10\n2 20\n"


@pytest.mark.parametrize(
    "content",
    [
        b"1\n0\n",
        b"0\n1\n",
        b"0\n1\n1\n",
        b"0\n1\n1 x\n",
        b"0\n1\n-1 5\n",
        b"0\n1\n1 -1\n",
        b"0\n2\n2 10\n1 20\n",
        b"0\n2\n1 10\n1 20\n",
        b"0\n2\n1 20\n2 10\n",
        b"0\n1\n2147483648 10\n",
    ],
)
def test_a_damaged_file_is_corrupt(volume: Volume, content: bytes) -> None:
    volume.put(NAME, content)
    with pytest.raises(CorruptLogError, match="line"):
        open_epochs(volume)


def test_an_epoch_without_records_is_dropped_when_read(volume: Volume) -> None:
    volume.put(NAME, b"0\n3\n1 10\n2 20\n3 20\n")
    assert open_epochs(volume).entries == ((1, 10), (3, 20))


def appended_log(lengths: Iterable[tuple[int, int]]) -> list[int]:
    """The epoch of every offset of a log."""
    log: list[int] = []
    epoch = 0
    for step, length in lengths:
        epoch += step
        log += [epoch] * length
    return log


@given(
    st.lists(st.tuples(st.integers(1, 3), st.integers(1, 5)), max_size=10),
    st.integers(0, 60),
    st.integers(0, 60),
    st.integers(0, 40),
)
def test_epochs_agree_with_a_log_that_is_cut_at_both_ends(
    lengths: list[tuple[int, int]], start: int, end: int, asked: int
) -> None:
    disk = MemoryDisk()
    disk.make_directory("/data")
    epochs = open_epochs(Volume(disk, "/data"))
    log = appended_log(lengths)
    for offset, epoch in enumerate(log):
        epochs.assign(epoch, offset)
    epochs.truncate_from_end(end)
    epochs.truncate_from_start(min(start, end))
    kept = range(min(start, end, len(log)), min(end, len(log)))
    assert [epochs.epoch_for_offset(offset) for offset in kept] == [log[n] for n in kept]
    if kept and log[kept[0]] <= asked <= log[kept[-1]]:
        found = max(log[n] for n in kept if log[n] <= asked)
        last = max(n for n in kept if log[n] <= asked)
        assert epochs.end_offset_for(asked, kept.stop) == (found, last + 1)
