"""The hashes of the audit against published values, and the bucket of a timestamp."""

from struct import pack
from types import ModuleType

import pytest
from tests.unit.protocol.records.loops import implementations

from ottla.protocol.records.column_layout import RecordSegment
from ottla.protocol.records.record import Record

pytestmark = pytest.mark.native

DAY_MS = 86_400_000
JANUARY_2026_MS = 1_767_225_600_000


@pytest.mark.parametrize("loops", implementations())
def test_xxh64_has_the_published_values(loops: ModuleType) -> None:
    # From the test vectors of xxHash: a generator of bytes, lengths 0, 1, 14 and 222.
    factor, byte_generator, sanity = 2654435761, 2654435761, bytearray()
    for _ in range(222):
        sanity.append(byte_generator >> 56 & 0xFF)
        byte_generator = byte_generator * 11400714785074694797 % 2**64
    found = {(size, seed): loops.xxh64(bytes(sanity[:size]), seed)
             for size in (0, 1, 14, 222) for seed in (0, factor)}  # fmt: skip
    assert found == {
        (0, 0): 0xEF46DB3751D8E999,
        (0, factor): 0xAC75FDA2929B17EF,
        (1, 0): 0xE934A84ADB052768,
        (1, factor): 0x5014607643A9B4C3,
        (14, 0): 0x8282DCC4994E35C8,
        (14, factor): 0xC3BD6BF63DEB6DF0,
        (222, 0): 0xB641AE8CB691C174,
        (222, factor): 0x20CB8AB7AE10C14A,
    }


@pytest.mark.parametrize("loops", implementations())
def test_the_hashes_are_those_of_the_documented_bytes(loops: ModuleType) -> None:
    record = Record(40, JANUARY_2026_MS, b"k", None, (("h", b""), ("i", None)))
    topic_id = bytes(range(16))
    (found,) = loops.fold_segments([segment_of([record])], topic_id, 3, DAY_MS)
    content = pack("<qi1sii", JANUARY_2026_MS, 1, b"k", -1, 2)
    content += pack("<i1si", 1, b"h", 0) + pack("<i1si", 1, b"i", -1)
    assert found.content_sum == found.content_xor == loops.xxh64(content)
    assert found.place_sum == loops.xxh64(topic_id + pack("<iq", 3, 40))
    assert (found.records, found.size, found.bucket) == (1, 3, JANUARY_2026_MS // DAY_MS)


@pytest.mark.parametrize("loops", implementations())
def test_timestamps_that_cannot_be_are_in_one_bucket(loops: ModuleType) -> None:
    strange = [-1, 0, 5, 946_684_799_999, 4_102_444_800_000, 2**62, -(2**62)]
    records = [Record(n, at, None, b"") for n, at in enumerate(strange)]
    found = loops.fold_segments([segment_of(records)], bytes(16), 0, 600_000)
    assert [(each.bucket, each.records) for each in found] == [(-1, len(strange))]


@pytest.mark.parametrize("loops", implementations())
def test_thousands_of_buckets_in_any_order(loops: ModuleType) -> None:
    order = [n * 7919 % 2000 for n in range(2000)]
    records = [
        Record(n, JANUARY_2026_MS + at * 1000, None, b"x") for n, at in enumerate(order + order)
    ]
    found = loops.fold_segments([segment_of(records)], bytes(16), 0, 1000)
    assert [each.bucket for each in found] == [JANUARY_2026_MS // 1000 + n for n in range(2000)]
    assert {each.records for each in found} == {2}


def segment_of(records: list[Record]) -> RecordSegment:
    from ottla.protocol.records import native

    first = records[0]
    body = bytes(native.encode(records, first.offset, 0))
    return RecordSegment(body, 0, len(body), 0, len(records), True, first.offset, 0, None)
