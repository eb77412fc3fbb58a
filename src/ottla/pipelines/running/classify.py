"""Which rows are written, which are bad, and which are late.

Owns      that decision, for one Arrow batch at a time, without Python code for each row.
Promises  every row is in exactly one of the three; a row that is repeated is classified the same
          way, because `late_before` is fixed for a batch before its tasks start.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

# Event times beyond these are wrong: hours of such years would each be a folder.
TIME_MIN = pa.scalar(0, pa.int64())
TIME_MAX = pa.scalar(7_258_118_400_000_000, pa.int64())  # the year 2200
OUT_OF_RANGE = "the event time is before 1970 or after 2200"


@dataclass(frozen=True)
class Classified:
    """Masks over the rows of a batch; None where no row is meant."""

    good: pa.Array | None  # None: all
    bad: Mapping[int, str]  # row to reason
    late: pa.Array | None


def classify(times: pa.Array, reasons: Mapping[int, str], late_before_us: int | None) -> Classified:
    """`times` are the event times, null where a row has none; `reasons` the rows that could not
    be decoded."""
    numbers = times.cast(pa.int64())
    bad = dict(reasons)
    outside = pc.or_(pc.less(numbers, TIME_MIN), pc.greater_equal(numbers, TIME_MAX))
    if pc.any(outside).as_py():
        for row in pc.indices_nonzero(pc.fill_null(outside, False)).to_pylist():
            bad.setdefault(row, OUT_OF_RANGE)
    late = None
    if late_before_us is not None:
        late = pc.fill_null(pc.less(numbers, pa.scalar(late_before_us, pa.int64())), False)
        late = _without(late, bad)
        late = late if pc.any(late).as_py() else None
    good = None
    if bad or late is not None:
        good = _without(pa.repeat(True, len(times)), bad)
        good = good if late is None else pc.and_not(good, late)
    return Classified(good, bad, late)


def _without(mask: pa.Array, rows: Mapping[int, str]) -> pa.Array:
    if not rows:
        return mask
    values = mask.to_numpy(zero_copy_only=False).copy()
    values[list(rows)] = False
    return pa.array(values)
