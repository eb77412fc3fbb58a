from __future__ import annotations

from ottla.storage.files.file_names import SegmentFileName
from ottla.storage.files.leftovers import (
    SwapRange,
    replaced_names,
    sort_leftovers,
    swapped_segments,
)


def name(offset: int, suffix: str) -> str:
    return f"{offset:020d}{suffix}"


def test_a_tidy_directory_has_no_leftovers() -> None:
    names = [name(0, ".log"), name(0, ".index"), name(7, ".snapshot"), "leader-epoch-checkpoint"]
    assert sort_leftovers(names) == ([], [])


def test_deleted_and_cleaned_files_are_removed() -> None:
    to_delete = [name(0, ".log.deleted"), name(5, ".log.cleaned"), name(5, ".index.cleaned")]
    assert sort_leftovers([name(0, ".log"), *to_delete]).remove == to_delete


def test_complete_swaps_stay() -> None:
    names = [name(3, ".log.swap"), name(3, ".index.swap")]
    found = sort_leftovers(names)
    assert found.remove == []
    assert swapped_segments(found.swaps) == [3]


def test_swaps_at_or_behind_an_unfinished_one_are_undone() -> None:
    names = [name(3, ".log.swap"), name(5, ".index.cleaned"), name(5, ".log.swap")]
    found = sort_leftovers([*names, name(9, ".log.swap")])
    assert set(found.remove) == {names[1], names[2], name(9, ".log.swap")}
    assert found.swaps == [SegmentFileName(3, ".log", ".swap")]


def test_an_index_alone_stands_for_no_records() -> None:
    assert swapped_segments([SegmentFileName(3, ".index", ".swap")]) == []


def test_files_of_replaced_segments_are_named_but_not_their_snapshots() -> None:
    names = [
        name(0, ".log"),
        name(3, ".log"),
        name(3, ".index"),
        name(3, ".snapshot"),
        name(3, ".log.swap"),
        name(9, ".txnindex"),
        name(10, ".log"),
        "notes.txt",
    ]
    assert replaced_names(names, [SwapRange(3, 10)]) == [names[1], names[2], names[5]]
