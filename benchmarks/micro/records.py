"""Records per second, with compiled code and in Python; and the cost of a produced batch.

    python -m benchmarks.micro.records

Records have a key of 10 bytes and a value of 90 or 100. Processor time, best of several repeats:
compare rows of one run.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from types import ModuleType

from benchmarks.micro.timing import best_of, table

from ottla.protocol.records import _plain
from ottla.protocol.records.arrow import read_arrow
from ottla.protocol.records.arrow_building import build_arrow_batches, rows_of
from ottla.protocol.records.batch import HEADER_BYTES, has_valid_checksum, read_header
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.checking import ProduceRules, check_produced
from ottla.protocol.records.column_building import ColumnBatchSettings
from ottla.protocol.records.column_layout import RecordSegment
from ottla.protocol.records.compression import Codec, compress, decompress
from ottla.protocol.records.reading import iterate_records
from ottla.protocol.records.record import Record
from ottla.protocol.records.record_index import index_records

try:
    from ottla.protocol.records import _native
except ImportError:
    _native = None  # type: ignore[assignment]

NOW_MS = 1_760_000_000_000
SMALL_BYTES, LARGE_BYTES = 16 * 1024, 1024 * 1024
RULES = ProduceRules(message_bytes_max=2 * LARGE_BYTES)


def rows_for(size: int, value_bytes: int = 90) -> list[Record]:
    """The number of records in a batch of about `size` bytes, with values like JSON."""
    text = b'{"user": %d, "page": "/catalogue/item", "took_ms": 12, "agent": "Mozilla/5.0"}'
    count = size // (value_bytes + 22)
    values = [(text % (i * 7919 % 100_003)).ljust(value_bytes, b" ") for i in range(count)]
    return [Record(i, NOW_MS + i, b"key%07d" % i, value) for i, value in enumerate(values)]


def loop_cases(rows: list[Record]) -> Iterator[tuple[str, Callable[[ModuleType], object]]]:
    """Each loop with the same records."""
    batch = bytes(build_batch(rows))
    count, end, body = len(rows), len(batch), batch[HEADER_BYTES:]
    numbers, places = memoryview(bytearray(16 * count)), memoryview(bytearray(32 * count))
    segment = RecordSegment(batch, HEADER_BYTES, end, 0, count, True, 0, NOW_MS, None)
    columns = rows_of(next(read_arrow(batch)), NOW_MS)
    keep = bytes([1, 0]) * (count // 2) + bytes(count % 2)
    yield "walk", lambda m: m.walk(batch, HEADER_BYTES, end, count, NOW_MS, True, False)
    yield "records as objects", lambda m: m.decode(body, 0, 0, count, True, 0, NOW_MS, None)
    yield (
        "index arrays",
        lambda m: m.index(
            batch, HEADER_BYTES, end, 0, count, True, 0, NOW_MS, None, numbers, places
        ),
    )
    yield "columns for Arrow", lambda m: m.columns([segment], False)
    yield "keep every other", lambda m: m.select(body, 0, len(body), count, keep, 5)
    yield "body from objects", lambda m: m.encode(rows, 0, NOW_MS)
    yield (
        "body from columns",
        lambda m: m.encode_columns(
            0, count, 1 << 30, NOW_MS, columns.timestamps, columns.keys, columns.values, None, 0
        ),
    )


def compare_loops() -> str:
    rows = rows_for(LARGE_BYTES)
    found: list[tuple[object, ...]] = []
    for name, case in loop_cases(rows):
        plain = len(rows) / best_of(partial(case, _plain)) / 1e6
        if _native is None:
            found.append((name, "-", plain, "-"))
            continue
        compiled = len(rows) / best_of(partial(case, _native)) / 1e6
        found.append((name, compiled, plain, f"{compiled / plain:.0f}x"))
    title = f"Loops, million records a second (batch of 1 MiB, {len(rows)} records)"
    return table(title, ("", "compiled", "plain", "ratio"), found)


def whole_cases(size: int) -> Iterator[tuple[str, int, Callable[[], object]]]:
    """From batches to application data, and back: (name, records, function)."""
    rows = rows_for(size, value_bytes=100)
    batch = bytes(build_batch(rows))
    repeats = 4 * LARGE_BYTES // size
    data, (table_of_batch,) = batch * repeats, read_arrow(batch)
    settings = ColumnBatchSettings(bytes_max=2 * size)
    yield "read as Arrow", repeats * len(rows), lambda: sum(t.num_rows for t in read_arrow(data))
    yield "read as objects", len(rows), lambda: sum(1 for _ in iterate_records(batch))
    yield "index", len(rows), lambda: index_records(batch[HEADER_BYTES:], len(rows))
    yield "build from objects", len(rows), lambda: build_batch(rows)
    yield (
        "build from Arrow",
        len(rows),
        lambda: list(build_arrow_batches(table_of_batch, settings, now_ms=NOW_MS)),
    )


def measure_whole() -> str:
    columns = [
        [(name, count / best_of(case) / 1e6) for name, count, case in whole_cases(size)]
        for size in (SMALL_BYTES, LARGE_BYTES)
    ]
    lines = [(small[0], small[1], large[1]) for small, large in zip(*columns, strict=True)]
    title = "Whole batches, million records a second (values of 100 bytes, one thread)"
    return table(title, ("", "16 KiB batches", "1 MiB batches"), lines)


def produce_cases(size: int) -> Iterator[Callable[[], object]]:
    rows = rows_for(size)
    batch = build_batch(rows)
    header, walk = read_header(batch), (_native or _plain).walk
    yield lambda: read_header(batch)
    yield lambda: has_valid_checksum(batch, 0, header)
    yield lambda: walk(batch, HEADER_BYTES, len(batch), len(rows), NOW_MS, True, False)
    yield lambda: check_produced(batch, RULES, produce_version=9, now_ms=NOW_MS)


def measure_produce() -> str:
    lines = [
        (name, *(1e6 * best_of(case) for case in produce_cases(size)))
        for name, size in (("16 KiB", SMALL_BYTES), ("1 MiB", LARGE_BYTES))
    ]
    title = "A produced batch without codec, microseconds"
    return table(title, ("", "header", "checksum", "walk", "all checks"), lines)


def codec_cases(codec: Codec) -> Iterator[tuple[int, Callable[[], object]]]:
    for size in (SMALL_BYTES, LARGE_BYTES):
        body = bytes(build_batch(rows_for(size))[HEADER_BYTES:])
        yield len(body), partial(compress, codec, body)
        yield len(body), partial(decompress, codec, compress(codec, body), 1 << 25)


def measure_codecs() -> str:
    lines = [
        (codec.name.lower(), *(size / best_of(case) / 1e6 for size, case in codec_cases(codec)))
        for codec in Codec
        if codec is not Codec.NONE
    ]
    columns = ("", "16 KiB in", "out", "1 MiB in", "out")
    return table("Codecs behind the bounded functions, MB/s of records", columns, lines)


def run() -> list[str]:
    return [compare_loops(), measure_whole(), measure_produce(), measure_codecs()]


if __name__ == "__main__":
    print("\n".join(run()))
