"""Records worth testing with, fixed ones and drawn ones, and ways to spoil their bytes."""

from __future__ import annotations

from collections.abc import Callable
from random import Random

from hypothesis import strategies as st

from ottla.protocol.records.record import Record

NOW_MS = 1_760_000_000_000
HOSTILE_BYTES = (0, 1, 2, 3, 0x7E, 0x7F, 0x80, 0x81, 0xFE, 0xFF)
Timestamps = Callable[[Random], int]
INT64 = st.integers(-(2**63), 2**63 - 1)


def plain_records(count: int, base_offset: int = 0) -> list[Record]:
    return [
        Record(base_offset + i, NOW_MS + i, b"key-%d" % (i % 10), b"value-%d" % i)
        for i in range(count)
    ]


RECORD_SETS: dict[str, list[Record]] = {
    "one": plain_records(1),
    "nulls": [Record(0, NOW_MS, None, None), Record(1, -1, b"", None), Record(2, 0, None, b"")],
    "headers": [
        Record(0, NOW_MS, None, b"v", (("a", b"1"), ("a", None), ("grüße", b"\xff"), ("", b""))),
        Record(1, NOW_MS, b"k", b"v", tuple((f"h{i}", bytes([i])) for i in range(130))),
    ],
    "lengths at the varint steps": [
        Record(i, NOW_MS, b"k" * size, b"v" * (size + 1))
        for i, size in enumerate((62, 63, 64, 127, 128, 8190, 8191, 8192, 16_384))
    ],
    "times back and forth": [Record(i, NOW_MS - i * 1_000_003, None, b"v") for i in range(5)],
    "many": plain_records(3000),
    "large": [Record(0, NOW_MS, b"k", bytes(range(256)) * 2000)],
}


def records(timestamps: Timestamps | None = None) -> st.SearchStrategy[list[Record]]:
    """Lists of records with rising offsets from 0 on, gaps included. Only a seed is drawn: drawing
    every byte would take longer than the tests."""
    seeds = st.integers(0, 2**64 - 1)
    return seeds.map(lambda seed: random_records(Random(seed), timestamps or random_int64))


@st.composite
def spoiled(draw: st.DrawFn, data: bytes) -> bytes:
    """`data` with a few bytes changed, cut off or added."""
    return spoil(Random(draw(st.integers(0, 2**32))), data)


def spoil(random: Random, data: bytes) -> bytes:
    spoilt = bytearray(data)
    for _ in range(random.randrange(4) if spoilt else 0):
        near = random.choice((8, 40, len(spoilt)))
        place = random.randrange(min(near, len(spoilt)))
        spoilt[place] = (
            random.choice(HOSTILE_BYTES) if random.random() < 0.8 else random.randrange(256)
        )
    end = random.choice((len(spoilt), len(spoilt), random.randrange(len(spoilt) + 1)))
    return bytes(spoilt[:end]) + random.choice((b"", b"", b"", b"\0", b"\xff" * 12))


def random_records(random: Random, timestamps: Timestamps | None = None) -> list[Record]:
    rows: list[Record] = []
    offset = random.randrange(3)
    for _ in range(random.choice((0, 1, 2, 5, 12))):
        headers = tuple(
            (random.choice(("", "a", "ü", "x" * 70)), random_bytes(random, 70))
            for _ in range(random.choice((0, 0, 0, 1, 3)))
        )
        sizes = random.choice((10, 70, 200, 9000))
        row = (random_bytes(random, 70), random_bytes(random, sizes), headers)
        rows.append(Record(offset, (timestamps or random_int64)(random), *row))
        offset += random.choice((1, 1, 1, 2, 70, 9000))
    return rows


def random_bytes(random: Random, size_max: int) -> bytes | None:
    if random.random() < 0.2:
        return None
    return random.randbytes(random.choice((0, 1, random.randrange(size_max), size_max)))


def random_int64(random: Random) -> int:
    bits = random.choice((1, 7, 14, 41, 63))
    return random.choice(
        (-1, 0, -(2**63), 2**63 - 1, random.getrandbits(bits), ~random.getrandbits(bits))
    )


def ordinary_time(random: Random) -> int:
    """A timestamp that records may have: none, long ago, now."""
    return random.choice((-1, 0, random.getrandbits(40), NOW_MS + random.getrandbits(12)))
