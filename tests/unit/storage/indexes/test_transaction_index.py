from __future__ import annotations

import errno
from struct import pack

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.support.volumes import Volume

from ottla.base.files.readers import BLOCKING
from ottla.storage.errors import CorruptLogError, IndexAppendError
from ottla.storage.indexes.transaction_index import AbortedTransaction, TransactionIndex
from ottla.testing.filesystem import MemoryDisk

BASE = 100
NAME = "00000000000000000100.txnindex"


def open_index(volume: Volume) -> TransactionIndex:
    return TransactionIndex.open(volume.files, volume.path(NAME), BASE)


def aborted(first: int, last: int, stable: int | None = None) -> AbortedTransaction:
    return AbortedTransaction(7, first, last, last + 1 if stable is None else stable)


def filled(volume: Volume, *transactions: AbortedTransaction) -> TransactionIndex:
    index = open_index(volume)
    for transaction in transactions:
        index.append(transaction)
    return index


def test_an_index_without_a_file_is_empty_and_makes_none(volume: Volume) -> None:
    index = open_index(volume)
    assert list(index.iterate(BLOCKING)) == []
    assert index.last_offset(BLOCKING) == -1
    assert index.aborted_between(BLOCKING, 0, 2**63 - 1) == ([], False)
    index.truncate_to(0)
    index.clear()
    index.check(BLOCKING)
    index.sync()
    index.close()
    assert volume.files.list_directory(volume.root) == []


def test_the_file_holds_kafkas_entries(volume: Volume) -> None:
    index = filled(volume, AbortedTransaction(4711, 90, 110, 105))
    assert volume.get(NAME) == pack(">hqqqq", 0, 4711, 90, 110, 105)
    index.close()
    assert list(open_index(volume).iterate(BLOCKING)) == [AbortedTransaction(4711, 90, 110, 105)]


def test_markers_must_ascend(volume: Volume) -> None:
    index = filled(volume, aborted(100, 110))
    for last in (110, 109):
        with pytest.raises(IndexAppendError, match="does not come after"):
            index.append(aborted(101, last))
    index.close()
    with pytest.raises(IndexAppendError):
        open_index(volume).append(aborted(101, 110))


def test_a_search_finds_what_overlaps(volume: Volume) -> None:
    first = aborted(100, 110, stable=105)
    index = filled(volume, first, aborted(105, 120), aborted(130, 140))
    assert index.aborted_between(BLOCKING, 100, 200).transactions == list(index.iterate(BLOCKING))
    assert index.aborted_between(BLOCKING, 111, 125).transactions == [aborted(105, 120)]
    assert index.aborted_between(BLOCKING, 110, 111).transactions == [first, aborted(105, 120)]
    assert index.aborted_between(BLOCKING, 121, 130).transactions == []
    assert index.aborted_between(BLOCKING, 141, 200).transactions == []


def test_a_search_is_complete_once_the_stable_offset_passed_its_end(volume: Volume) -> None:
    index = filled(volume, aborted(100, 110, stable=102), aborted(102, 120, stable=121))
    assert not index.aborted_between(BLOCKING, 100, 130).is_complete
    assert index.aborted_between(BLOCKING, 100, 121).is_complete
    search = index.aborted_between(BLOCKING, 100, 102)
    assert search.is_complete
    assert search.transactions == [aborted(100, 110, stable=102)]


@pytest.mark.parametrize(("offset", "left"), [(0, 0), (110, 0), (111, 1), (120, 1), (121, 2)])
def test_truncating_forgets_markers_from_an_offset_on(
    volume: Volume, offset: int, left: int
) -> None:
    index = filled(volume, aborted(100, 110), aborted(105, 120))
    index.truncate_to(offset)
    assert index.count(BLOCKING) == left
    assert volume.files.size(index.path) == 34 * left
    index.append(aborted(105, 150))
    assert list(open_index(volume).iterate(BLOCKING))[-1] == aborted(105, 150)


def test_a_cleared_index_begins_again(volume: Volume) -> None:
    index = filled(volume, aborted(100, 110))
    index.clear()
    assert index.last_offset(BLOCKING) == -1
    index.append(aborted(100, 105))
    assert list(index.iterate(BLOCKING)) == [aborted(100, 105)]


def test_an_index_follows_its_file(volume: Volume) -> None:
    index = filled(volume, aborted(100, 110))
    volume.files.rename(volume.path(NAME), volume.path("x.deleted"))
    index.renamed(volume.path("x.deleted"))
    index.append(aborted(100, 120))
    index.sync()
    index.close()
    assert len(list(index.iterate(BLOCKING))) == 2


def test_half_an_entry_at_the_end_is_corrupt(volume: Volume) -> None:
    volume.put(NAME, pack(">hqqqq", 0, 7, 100, 110, 111) + b"half")
    with pytest.raises(CorruptLogError, match="multiple"):
        open_index(volume).check(BLOCKING)


def test_an_entry_of_another_version_is_corrupt(volume: Volume) -> None:
    good = pack(">hqqqq", 0, 7, 100, 110, 111)
    volume.put(NAME, good + pack(">hqqqq", 1, 7, 100, 120, 121) + good)
    with pytest.raises(CorruptLogError, match="version 1") as raised:
        open_index(volume).aborted_between(BLOCKING, 0, 200)
    assert raised.value.position == 34


@pytest.mark.parametrize(
    "entries",
    [
        [(7, 90, 99, 100)],
        [(7, 100, 120, 121), (7, 100, 110, 121)],
        [(7, 100, 110, 111), (7, 100, 110, 111)],
        [(7, 115, 110, 111)],
    ],
)
def test_implausible_entries_are_corrupt(
    volume: Volume, entries: list[tuple[int, int, int, int]]
) -> None:
    volume.put(NAME, b"".join(pack(">hqqqq", 0, *entry) for entry in entries))
    with pytest.raises(CorruptLogError):
        open_index(volume).check(BLOCKING)


def test_a_failed_append_leaves_the_index_as_it_was(disk: MemoryDisk) -> None:
    volume = Volume(disk, "/data")
    index = filled(volume, aborted(100, 110))
    disk.fail("write", error=errno.ENOSPC, keep_bytes=20)
    with pytest.raises(OSError):
        index.append(aborted(100, 120))
    assert list(index.iterate(BLOCKING)) == [aborted(100, 110)]
    index.append(aborted(100, 130))
    assert list(open_index(volume).iterate(BLOCKING)) == [aborted(100, 110), aborted(100, 130)]


@settings(max_examples=100, deadline=None)
@given(
    st.lists(st.tuples(st.integers(1, 20), st.integers(0, 60)), max_size=200),
    st.lists(st.tuples(st.integers(0, 3000), st.integers(0, 200)), max_size=20),
)
def test_a_search_agrees_with_reading_everything(
    shapes: list[tuple[int, int]], ranges: list[tuple[int, int]]
) -> None:
    disk = MemoryDisk()
    disk.make_directory("/data")
    transactions = consistent_transactions(shapes)
    index = filled(Volume(disk, "/data"), *transactions)
    index.check(BLOCKING)
    for start, size in ranges:
        end = start + size + 1
        found = [t for t in transactions if t.last_offset >= start and t.first_offset < end]
        assert index.aborted_between(BLOCKING, start, end).transactions == found


def consistent_transactions(shapes: list[tuple[int, int]]) -> list[AbortedTransaction]:
    """Transactions whose stable offsets are held back by those that are still open."""
    last, bounds = BASE, []
    for gap, length in shapes:
        last += gap
        bounds.append((max(0, last - length), last))
    return [
        aborted(first, last, stable=min([last + 1, *(later for later, _ in bounds[n + 1 :])]))
        for n, (first, last) in enumerate(bounds)
    ]
