"""The segments of a log, in the order of their base offsets.

Promises  at least one segment while a log is in use; the last one is active. Adding one at the end,
          and removing the first ones, costs little for ten thousand segments. An iteration over the
          segments is not affected by changes.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import overload

from ottla.storage.segments.segment import Segment


class Segments(Sequence[Segment]):
    __slots__ = ("_base_offsets", "_segments", "active")

    def __init__(self, segments: Iterable[Segment] = ()) -> None:
        self._segments = sorted(segments, key=lambda segment: segment.base_offset)
        self._base_offsets = [segment.base_offset for segment in self._segments]
        self.active: Segment = self._segments[-1]

    def __len__(self) -> int:
        return len(self._segments)

    def __iter__(self) -> Iterator[Segment]:
        return iter(self._segments)

    @overload
    def __getitem__(self, at: int) -> Segment: ...
    @overload
    def __getitem__(self, at: slice) -> list[Segment]: ...
    def __getitem__(self, at: int | slice) -> Segment | list[Segment]:
        return self._segments[at]

    @property
    def base_offsets(self) -> list[int]:
        return list(self._base_offsets)

    @property
    def size_bytes(self) -> int:
        return sum(segment.size for segment in self._segments)

    def floor(self, offset: int) -> Segment | None:
        """The segment in which `offset` belongs."""
        at = bisect_right(self._base_offsets, offset)
        return self._segments[at - 1] if at else None

    def after(self, segment: Segment) -> Segment | None:
        at = bisect_right(self._base_offsets, segment.base_offset)
        return self._segments[at] if at < len(self._segments) else None

    def reaching(self, offset: int) -> list[Segment]:
        """The segments that contain `offset` or a later one."""
        return self._segments[max(0, bisect_right(self._base_offsets, offset) - 1) :]

    def base_offsets_between(self, start: int, end: int) -> list[int]:
        """The base offsets from `start` up to and including `end`."""
        offsets = self._base_offsets
        return offsets[bisect_left(offsets, start) : bisect_right(offsets, end)]

    def end_of(self, segment: Segment, log_end_offset: int) -> int:
        """Where the offsets of the next segment begin."""
        following = self.after(segment)
        return log_end_offset if following is None else following.base_offset

    def append(self, segment: Segment) -> None:
        """The new active segment."""
        self._segments = [*self._segments, segment]
        self._base_offsets.append(segment.base_offset)
        self.active = segment

    def remove_first(self, count: int) -> None:
        """Remove the first segments, but not all."""
        self._segments = self._segments[count:]
        del self._base_offsets[:count]

    def replace(self, removed: Iterable[Segment], added: Iterable[Segment]) -> None:
        removed_ids = set(map(id, removed))
        kept = [segment for segment in self._segments if id(segment) not in removed_ids]
        self.__init__([*kept, *added])  # type: ignore[misc]  # one place that sorts
