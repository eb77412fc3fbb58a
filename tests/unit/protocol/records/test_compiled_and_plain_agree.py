"""The compiled loops and the plain ones: the same results and the same faults, on any input.

Hypothesis draws the seeds, and each seed stands for many cases: drawing every byte by itself would
take longer than all the loops together.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterator
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.unit.protocol.records.cases import (
    random_int64,
    random_records,
    spoil,
)
from tests.unit.protocol.records.loops import agreed, implementations, outcome

from ottla.protocol.records import _plain, native
from ottla.protocol.records.column_layout import (
    HeaderColumns,
    ListColumn,
    RecordSegment,
    StringColumn,
)

pytestmark = pytest.mark.native

CASES_PER_SEED = 40
COUNTS = (0, 0, 0, 0, 0, 0, 1, -1, -100, 2**31 - 1)


def on_many_seeds(test: Callable[[Random], None]) -> Callable[[], None]:
    @given(seed=st.integers(0, 2**64 - 1))
    @settings(max_examples=40, deadline=None)
    def run(seed: int) -> None:
        random = Random(seed)
        for _ in range(CASES_PER_SEED):
            test(random)

    return run


def random_body(random: Random) -> tuple[bytes, int]:
    """The records of a batch, spoiled or not, and how many they say they are."""
    rows = random_records(random)
    body = bytes(_plain.encode(rows, 0, random_int64(random)))
    return spoil(random, body), len(rows) + random.choice(COUNTS)


def append_time(random: Random) -> int | None:
    return random.choice((None, random_int64(random)))


def test_the_compiled_loops_are_what_runs_where_they_exist() -> None:
    assert native.IMPLEMENTATION == "compiled"
    assert {name for name in native.__all__ if inspect.isbuiltin(getattr(native, name))} == set(
        _plain.__all__
    )


@on_many_seeds
def test_encode(random: Random) -> None:
    agreed("encode", random_records(random), random.randint(-5, 2), random_int64(random))


@on_many_seeds
def test_walk(random: Random) -> None:
    body, count = random_body(random)
    flags = (random.random() < 0.5, random.random() < 0.5)
    data = b"??" + body + b"?"
    agreed("walk", data, 2, 2 + len(body), count, random_int64(random), *flags)


@on_many_seeds
def test_decode(random: Random) -> None:
    body, count = random_body(random)
    bases = (random_int64(random), random_int64(random))
    agreed("decode", body, 0, 0, count, random.random() < 0.8, *bases, append_time(random))


@on_many_seeds
def test_skip_and_go_on(random: Random) -> None:
    body, count = random_body(random)
    part = random.randrange(5)
    position = agreed("skip", body, 0, len(body), 0, part)
    if isinstance(position, int):
        agreed("decode", body, position, part, count - part, True, 0, 0, None)
        agreed("skip", body, position, len(body), part, 1)


@on_many_seeds
def test_index(random: Random) -> None:
    body, count = random_body(random)
    bases = (random_int64(random), random_int64(random), append_time(random))
    arguments = (b"???" + body, 3, 3 + len(body), 0, count, random.random() < 0.8, *bases)
    rows = max(0, min(count, len(body) // 7)) - (random.random() < 0.05)
    found = [index_outcome(module, arguments, max(rows, 0)) for module in implementations()]
    assert found[0] == found[-1]


def index_outcome(module: object, arguments: tuple[object, ...], rows: int) -> object:
    numbers, places = memoryview(bytearray(16 * rows)), memoryview(bytearray(32 * rows))
    found = outcome(module.index, *arguments, numbers, places)  # type: ignore[attr-defined]
    return (found, bytes(numbers), bytes(places)) if isinstance(found, int) else found


@on_many_seeds
def test_slices(random: Random) -> None:
    rows = random.randrange(4)
    starts, sizes = (
        b"".join(random.randint(-2, 40).to_bytes(4, "little", signed=True) for _ in range(rows))
        for _ in range(2)
    )
    agreed("slices", random.randbytes(30), starts, sizes[4 * (random.random() < 0.1) :])


@on_many_seeds
def test_select(random: Random) -> None:
    body, count = random_body(random)
    keep = bytes(random.choices((0, 1, 2), k=random.choice((max(count, 0) % 100, 3))))
    agreed("select", body, 0, len(body), count, keep, random.choice((0, random_int64(random))))


def random_segment(random: Random) -> RecordSegment:
    body, count = random_body(random)
    base_offset = random.choice((0, random_int64(random)))
    wanted = (0, 2**63 - 1)
    if random.random() < 0.3:
        wanted = (random_int64(random), random_int64(random))
    return RecordSegment(
        body, 0, len(body), random.randrange(5), count, random.random() < 0.8, base_offset,
        random_int64(random), append_time(random), *wanted,
    )  # fmt: skip


@on_many_seeds
def test_columns(random: Random) -> None:
    parts = [random_segment(random) for _ in range(random.randrange(4))]
    agreed("columns", parts, random.random() < 0.5)


def random_ends(random: Random, count: int) -> Iterator[int]:
    end = 0
    for _ in range(count):
        yield end
        end += random.choice((0, 1, 3, 70, 70, -1 if random.random() < 0.05 else 2))


def random_column(random: Random, rows: int) -> StringColumn:
    """A column as Arrow lays it out, periodically one that cannot be right."""
    shift, is_large = random.choice((0, 0, 1, 9)), random.random() < 0.5
    ends = list(random_ends(random, shift + rows + 1 - (random.random() < 0.05)))
    packed = b"".join(end.to_bytes(8 if is_large else 4, "little", signed=True) for end in ends)
    data = random.randbytes(max([0, *ends]) - (random.random() < 0.05 and max([0, *ends]) > 0))
    valid = random.choice((None, random.randbytes((shift + rows) // 8 + 1)))
    return StringColumn(data, packed, is_large, valid, shift, rows - (random.random() < 0.02))


@on_many_seeds
def test_encode_columns(random: Random) -> None:
    rows = random.randrange(6)
    headers = None
    if random.random() < 0.5:
        lists, keys = random_column(random, rows), random_column(random, 80)
        headers = HeaderColumns(
            ListColumn(*lists[1:]), keys._replace(valid=None), random_column(random, 80)
        )
    times = b"".join(random_int64(random).to_bytes(8, "little", signed=True) for _ in range(rows))
    keys_and_values = [random.choice((None, random_column(random, rows))) for _ in range(2)]
    limits = (random.randrange(4), rows, random.choice((0, 100, 1 << 30)))
    agreed("encode_columns", *limits, random_int64(random), times, *keys_and_values, headers, 0)


PLACE = (bytes(range(16)), 7, 600_000)


@on_many_seeds
def test_fold_segments(random: Random) -> None:
    segments = [random_segment(random) for _ in range(random.randrange(3))]
    agreed("fold_segments", segments, *PLACE)


@on_many_seeds
def test_fold_columns(random: Random) -> None:
    rows = random.randrange(6)
    headers = None
    if random.random() < 0.5:
        lists, keys = random_column(random, rows), random_column(random, 80)
        headers = HeaderColumns(
            ListColumn(*lists[1:]), keys._replace(valid=None), random_column(random, 80)
        )
    numbers = [
        b"".join(random_int64(random).to_bytes(8, "little", signed=True) for _ in range(rows))
        for _ in range(3)
    ]
    strings = [random.choice((None, random_column(random, rows))) for _ in range(2)]
    hashes, with_content = random.choice((None, numbers[2])), random.random() < 0.8
    count = rows + (random.random() < 0.05)
    agreed("fold_columns", count, *numbers[:2], *strings, headers, hashes, with_content, *PLACE)


def test_a_topic_id_or_a_bucket_that_cannot_be_is_refused() -> None:
    assert agreed("fold_segments", [], bytes(15), 0, 600_000) is ValueError
    assert agreed("fold_segments", [], bytes(16), 0, 0) is ValueError


@on_many_seeds
def test_hashes_of_rows(random: Random) -> None:
    column = random_column(random, random.randrange(6))
    missing = random.randrange(2)
    found = [hash_outcome(module, column, missing) for module in implementations()]
    assert found[0] == found[-1]


def hash_outcome(module: object, column: StringColumn, missing: int) -> object:
    hashes = bytearray(8 * max(column.rows - (missing and column.rows > 3), 0))
    found = outcome(module.add_hashes, hashes, column, 5)  # type: ignore[attr-defined]
    module.finish_hashes(hashes)  # type: ignore[attr-defined]
    return found if found is not None else bytes(hashes)


@on_many_seeds
def test_xxh64(random: Random) -> None:
    agreed("xxh64", random.randbytes(random.randrange(200)), random.getrandbits(64))
