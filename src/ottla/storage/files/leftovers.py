"""What to do with files that an interrupted deletion or swap has left in a partition directory.

A swap uses three names: `.cleaned` while the new segments are written, `.swap` once all of
them are complete and durable, none when the old ones are removed. So:

.deleted   was being deleted: removed.
.cleaned   was not complete: removed, and with it every `.swap` from the same offset on, because
           segments are renamed from the last to the first.
.swap      was complete: old segments that it replaces are removed, then it is renamed.

Owns      these rules, as functions from names to names.
Leaves    touching the disk to `recovery.py`.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

from ottla.storage.files.file_names import (
    CLEANED_SUFFIX,
    DELETED_SUFFIX,
    LOG_SUFFIX,
    SWAP_SUFFIX,
    SegmentFileName,
    parse_segment_file_name,
)


class Leftovers(NamedTuple):
    remove: list[str]  # names to delete first
    swaps: list[SegmentFileName]  # what remains with `.swap`


class SwapRange(NamedTuple):
    """The offsets that `.swap` segments replace."""

    start: int
    end: int


def sort_leftovers(names: Iterable[str]) -> Leftovers:
    parsed = [(name, parse_segment_file_name(name)) for name in names]
    marked = [(name, file) for name, file in parsed if file is not None and file.state]
    unfinished = [file.offset for _, file in marked if file.state == CLEANED_SUFFIX]
    first_unfinished = min(unfinished, default=None)
    remove, swaps = [], []
    for name, file in marked:
        is_undone = first_unfinished is not None and file.offset >= first_unfinished
        if file.state == SWAP_SUFFIX and not is_undone:
            swaps.append(file)
        else:
            assert file.state in (DELETED_SUFFIX, CLEANED_SUFFIX, SWAP_SUFFIX)
            remove.append(name)
    return Leftovers(remove, swaps)


def replaced_names(names: Iterable[str], swapped: Iterable[SwapRange]) -> list[str]:
    """Files of segments that were replaced but not yet removed when the swap was interrupted.

    Producer snapshots stay: they are the state at an offset, whatever segment has the records.
    """
    ranges = list(swapped)
    replaced = []
    for name in names:
        file = parse_segment_file_name(name)
        if file is None or file.state or file.suffix == ".snapshot":
            continue
        if any(each.start <= file.offset < each.end for each in ranges):
            replaced.append(name)
    return replaced


def swapped_segments(swaps: Iterable[SegmentFileName]) -> list[int]:
    """Base offsets of segments whose records still have the suffix `.swap`.

    If only an index has it, its records already have their final name.
    """
    return sorted(file.offset for file in swaps if file.suffix == LOG_SUFFIX)
