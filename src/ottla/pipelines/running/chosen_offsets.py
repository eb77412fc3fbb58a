"""Ranges of offsets, chosen in tasks: thousands of them would be an expression of Spark that it
cannot plan.

Promises  exactly the rows of these offsets, in their order. Pickled to tasks.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pyarrow as pa
import pyarrow.compute as pc


@dataclass(frozen=True)
class ChosenOffsets:
    """`ranges` by name of topic and partition, sorted and without overlaps; the ends are one after
    the last."""

    ranges: Mapping[tuple[str, int], Sequence[tuple[int, int]]]

    def rows(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        """Those of a batch with the columns topic, partition and offset."""
        offsets = batch.column("offset").to_numpy()
        chosen = np.zeros(batch.num_rows, bool)
        for (topic, partition), spans in self.ranges.items():
            is_mine = pc.and_(
                pc.equal(batch.column("topic"), topic),
                pc.equal(batch.column("partition"), partition),
            ).to_numpy(zero_copy_only=False)
            if is_mine.any():
                chosen |= is_mine & _are_inside(offsets, spans)
        return batch if chosen.all() else batch.filter(pa.array(chosen))


def _are_inside(
    offsets: npt.NDArray[np.int64], spans: Sequence[tuple[int, int]]
) -> npt.NDArray[np.bool_]:
    edges = np.array(spans, np.int64).reshape(-1)  # start, end, start, end, ...
    inside: npt.NDArray[np.bool_] = np.searchsorted(edges, offsets, side="right") % 2 == 1
    return inside
