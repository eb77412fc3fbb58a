"""The wire's basic types, at the borders where an encoding changes or a bound is crossed."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.protocol import primitives
from ottla.protocol.errors import MalformedMessage, UnencodableValue

VARINTS = {
    0: "00", 1: "01", 127: "7f", 128: "8001", 300: "ac02", 16383: "ff7f", 16384: "808001",
    2**21 - 1: "ffff7f", 2**21: "80808001", 2**28: "8080808001", 2**31 - 1: "ffffffff07",
    2**32 - 1: "ffffffff0f",
}  # fmt: skip
TEXTS = ("", "a", "žluťoučký", "x" * 126, "x" * 127, "x" * 128, "日" * 10922)


def view(text: str) -> memoryview:
    return memoryview(bytes.fromhex(text))


# --- varints --------------------------------------------------------------------------------


@pytest.mark.parametrize(("value", "encoded"), VARINTS.items())
def test_varints_have_seven_bits_a_byte_low_ones_first(value: int, encoded: str) -> None:
    assert primitives.uvarint(value).hex() == encoded
    assert primitives.read_uvarint(view(encoded + "ff"), 0) == (value, len(encoded) // 2)


@given(st.integers(0, 2**32 - 1), st.binary(max_size=3))
def test_a_varint_is_read_from_where_it_stands(value: int, before: bytes) -> None:
    data = before + primitives.uvarint(value)
    assert primitives.read_uvarint(memoryview(data), len(before)) == (value, len(data))


def test_a_varint_may_be_written_longer_than_needed_up_to_five_bytes() -> None:
    assert primitives.read_uvarint(view("8080808000"), 0) == (0, 5)
    with pytest.raises(MalformedMessage, match="longer than five bytes"):
        primitives.read_uvarint(view("808080808000"), 0)


def test_a_varint_of_more_than_32_bits_is_refused() -> None:
    with pytest.raises(MalformedMessage, match="above 32 bits"):
        primitives.read_uvarint(view("ffffffff10"), 0)


# --- strings --------------------------------------------------------------------------------


@pytest.mark.parametrize("text", TEXTS)
@pytest.mark.parametrize("kind", ["", "compact_", "nullable_", "compact_nullable_"])
def test_a_string_is_read_as_it_was_written(kind: str, text: str) -> None:
    out = bytearray(b"?")
    getattr(primitives, f"write_{kind}string")(text, out)
    read = getattr(primitives, f"read_{kind}string")
    assert read(memoryview(out + b"more"), 1) == (text, len(out))


def test_lengths_of_strings_stand_in_two_bytes_or_in_a_varint_of_one_more() -> None:
    plain, compact = bytearray(), bytearray()
    primitives.write_string("é", plain)
    primitives.write_compact_string("é", compact)
    assert plain.hex() == "0002c3a9"
    assert compact.hex() == "03c3a9"


@pytest.mark.parametrize(("kind", "encoded"), [("nullable_", "ffff"), ("compact_nullable_", "00")])
def test_null_strings_differ_from_empty_ones(kind: str, encoded: str) -> None:
    out = bytearray()
    getattr(primitives, f"write_{kind}string")(None, out)
    assert out.hex() == encoded
    read = getattr(primitives, f"read_{kind}string")
    assert read(view(encoded), 0) == (None, len(encoded) // 2)


@pytest.mark.parametrize(("kind", "encoded"), [("", "ffff"), ("compact_", "00")])
def test_null_is_refused_where_a_string_must_be(kind: str, encoded: str) -> None:
    with pytest.raises(MalformedMessage, match="null string at byte"):
        getattr(primitives, f"read_{kind}string")(view(encoded), 0)


@pytest.mark.parametrize(
    ("kind", "encoded"),
    [
        ("", "0003c3a9"),
        ("", "fffe"),
        ("", "8000"),
        ("nullable_", "fffe"),
        ("nullable_", "7fff61"),
        ("compact_", "0461"),
        ("compact_nullable_", "ffffffff0f61"),
    ],
)
def test_a_string_longer_than_what_is_left_is_refused(kind: str, encoded: str) -> None:
    with pytest.raises(MalformedMessage, match=r"string of -?\d+ at byte \d"):
        getattr(primitives, f"read_{kind}string")(view(encoded), 0)


def test_strings_of_more_than_32767_bytes_do_not_exist() -> None:
    out = bytearray()
    primitives.write_compact_string("x" * 32767, out)
    assert primitives.read_compact_string(memoryview(out), 0) == ("x" * 32767, len(out))
    with pytest.raises(UnencodableValue, match="32768 bytes; 32767 are the most"):
        primitives.write_compact_string("é" * 16384, bytearray())
    too_long = primitives.uvarint(32769) + bytes(40000)
    with pytest.raises(MalformedMessage, match="string of 32768"):
        primitives.read_compact_string(memoryview(too_long), 0)


# --- bytes and records ----------------------------------------------------------------------


@pytest.mark.parametrize("is_bounded", [False, True])
def test_bytes_that_take_long_to_copy_are_refused_in_requests(
    is_bounded: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(primitives, "COPIED_BYTES_MAX", 10)
    monkeypatch.setattr(primitives, "bounded", [object()] if is_bounded else [])
    for size in (10, 11):
        for data, read in (
            (size.to_bytes(4, "big") + bytes(size), primitives.read_bytes),
            (size.to_bytes(4, "big") + bytes(size), primitives.read_nullable_bytes),
            (primitives.uvarint(size + 1) + bytes(size), primitives.read_compact_bytes),
            (primitives.uvarint(size + 1) + bytes(size), primitives.read_compact_nullable_bytes),
        ):
            if is_bounded and size == 11:
                with pytest.raises(MalformedMessage, match="of length 11 that"):
                    read(memoryview(data), 0)
            else:
                assert read(memoryview(data), 0) == (bytes(size), len(data))


@pytest.mark.parametrize("value", [b"", b"\x00", bytes(127), bytes(128), bytes(70_000)])
@pytest.mark.parametrize("kind", ["", "compact_", "nullable_", "compact_nullable_"])
def test_bytes_are_read_as_they_were_written(kind: str, value: bytes) -> None:
    out = bytearray(b"?")
    getattr(primitives, f"write_{kind}bytes")(value, out)
    read = getattr(primitives, f"read_{kind}bytes")
    assert read(memoryview(out + b"more"), 1) == (value, len(out))


@pytest.mark.parametrize(("kind", "encoded"), [("", "ffffffff"), ("compact_", "00")])
def test_null_bytes_are_read_only_where_null_may_be(kind: str, encoded: str) -> None:
    out = bytearray()
    getattr(primitives, f"write_{kind}nullable_bytes")(None, out)
    assert out.hex() == encoded
    read = getattr(primitives, f"read_{kind}nullable_bytes")
    assert read(view(encoded), 0) == (None, len(encoded) // 2)
    with pytest.raises(MalformedMessage, match="null bytes"):
        getattr(primitives, f"read_{kind}bytes")(view(encoded), 0)


@pytest.mark.parametrize("read", [primitives.read_view, primitives.read_compact_view])
def test_records_are_a_slice_of_the_frame_and_no_copy(read: object) -> None:
    frame = bytearray(b"\x00\x00\x00\x03abc" if read is primitives.read_view else b"\x04abc")
    found, end = read(memoryview(frame), 0)  # type: ignore[operator]
    frame[-1] = ord("z")
    assert (bytes(found), end) == (b"abz", len(frame))


@pytest.mark.parametrize("encoded", ["00000004616263", "fffffffe", "80000000", "7fffffff61"])
def test_a_view_beyond_the_frame_is_refused(encoded: str) -> None:
    with pytest.raises(MalformedMessage, match="bytes of"):
        primitives.read_view(view(encoded), 0)


# --- arrays ---------------------------------------------------------------------------------


def test_a_count_must_fit_what_is_left_with_the_smallest_item_there_can_be() -> None:
    assert primitives.read_count(view("00000002" + "00" * 8), 0, 4) == (2, 4)
    with pytest.raises(MalformedMessage, match="array of 2 at byte 4, but 7 bytes are left"):
        primitives.read_count(view("00000002" + "00" * 7), 0, 4)
    assert primitives.read_compact_count(view("03" + "00" * 8), 0, 4) == (2, 1)
    with pytest.raises(MalformedMessage, match="array of 2 at byte 1, but 7 bytes are left"):
        primitives.read_compact_count(view("03" + "00" * 7), 0, 4)


def test_a_null_array_has_the_count_minus_one() -> None:
    assert primitives.read_nullable_count(view("ffffffff"), 0, 4) == (-1, 4)
    assert primitives.read_compact_nullable_count(view("00"), 0, 4) == (-1, 1)


@pytest.mark.parametrize(
    ("read", "encoded"),
    [
        (primitives.read_count, "ffffffff"),
        (primitives.read_count, "fffffffe"),
        (primitives.read_nullable_count, "fffffffe"),
        (primitives.read_count, "7fffffff"),
        (primitives.read_compact_count, "00"),
        (primitives.read_compact_count, "ffffffff0f"),
        (primitives.read_compact_nullable_count, "ffffffff0f"),
    ],
)
def test_impossible_counts_are_refused(read: object, encoded: str) -> None:
    with pytest.raises(MalformedMessage, match="array"):
        read(view(encoded + "00" * 100), 0, 1)  # type: ignore[operator]


@pytest.mark.parametrize("count", [0, 1, 255, 256, 1000])
def test_numbers_are_read_as_they_were_written(count: int) -> None:
    numbers = [number - 500 for number in range(count)]
    out = bytearray()
    primitives.write_numbers(numbers, "i", out)
    assert primitives.read_numbers(memoryview(out), 0, count, "i") == (numbers, 4 * count)


def test_only_short_runs_of_numbers_are_remembered() -> None:
    """Else a peer could fill the memory with layouts of every length there is."""
    for count in range(1000):
        primitives.numbers_format("h", count)
    kept = [key for key in primitives._NUMBERS if key[0] == "h"]
    assert len(kept) == primitives.NUMBER_FORMATS_MAX


def test_strings_and_uuids_in_arrays_are_read_one_after_the_other() -> None:
    out = bytearray()
    primitives.write_compact_strings(["a", "", "é"], out)
    assert primitives.read_compact_strings(memoryview(out), 0, 3) == (["a", "", "é"], len(out))
    ids = [bytes([number]) * 16 for number in range(3)]
    assert primitives.read_uuids(memoryview(b"?" + b"".join(ids)), 1, 3) == (ids, 49)


# --- tagged fields --------------------------------------------------------------------------


def test_unknown_tags_are_skipped_whatever_they_hold() -> None:
    out = bytearray(b"?")
    primitives.write_tags([(0, b""), (3, b"abc"), (300, bytes(200))], out)
    assert primitives.skip_tags(memoryview(out + b"rest"), 1) == len(out)


def test_more_tags_than_bytes_are_refused_before_one_is_read() -> None:
    with pytest.raises(MalformedMessage, match="tagged fields of 4294967295"):
        primitives.skip_tags(view("ffffffff0f" + "00" * 9), 0)


def test_a_tag_longer_than_what_is_left_is_refused() -> None:
    with pytest.raises(MalformedMessage, match="tagged field 5 of 9 at byte 3"):
        primitives.skip_tags(view("010509" + "00" * 8), 0)


def test_a_tagged_value_must_end_where_its_size_says() -> None:
    primitives.check_tag_end(1, 10, 10)
    with pytest.raises(MalformedMessage, match="tagged field 1 ends at byte 12"):
        primitives.check_tag_end(1, 10, 12)
