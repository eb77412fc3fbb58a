"""Small Arrow batches that become large ones."""

import pyarrow as pa
from hypothesis import given
from hypothesis import strategies as st

from ottla.protocol.records.arrow import ROWS_MAX
from ottla.spark.records.decoding import SMALL_ROWS, join_small


def batches_of(sizes: list[int]) -> list[pa.RecordBatch]:
    ends = [sum(sizes[: number + 1]) for number in range(len(sizes))]
    columns = [range(end - size, end) for size, end in zip(sizes, ends, strict=True)]
    return [pa.RecordBatch.from_pydict({"n": pa.array(each, pa.int64())}) for each in columns]


def test_small_batches_become_one() -> None:
    assert [each.num_rows for each in join_small(batches_of([3, 1, 2]))] == [6]


def test_large_batches_pass_unchanged() -> None:
    (small, large, more) = batches_of([3, SMALL_ROWS, 4])
    assert list(join_small([small, large, more])) == [small, large, more]


@given(st.lists(st.integers(1, 2 * SMALL_ROWS), max_size=30))
def test_rows_keep_their_order(sizes: list[int]) -> None:
    joined = list(join_small(batches_of(sizes)))
    rows = [value for each in joined for value in each.column("n").to_pylist()]
    assert rows == list(range(sum(sizes)))
    assert all(each.num_rows <= ROWS_MAX for each in joined)
