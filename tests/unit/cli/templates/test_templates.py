"""Printing and reading records by the same template."""

from __future__ import annotations

import io

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ottla.cli.records.record import BadRecord, TopicRecord
from ottla.cli.templates.numbers import decode_number, number_encoder
from ottla.cli.templates.parser import NUMBER_ENCODINGS, BadTemplate, parse_template
from ottla.cli.templates.printer import RecordContext, record_printer
from ottla.cli.templates.reader import read_records

RECORD = TopicRecord(
    b"value",
    b"key",
    (("a", b"1"), ("b", None)),
    topic="topic",
    partition=3,
    offset=258,
    timestamp_ms=1_644_800_523_250,
    leader_epoch=7,
)


def printed(template: str, record: TopicRecord = RECORD, null: bytes = b"") -> bytes:
    return record_printer(parse_template(template), null)(
        record, RecordContext(1, lambda _: (10, 300))
    )


def read(template: str, content: bytes) -> list[TopicRecord]:
    return list(read_records(io.BytesIO(content), parse_template(template)))


@pytest.mark.parametrize(
    ("template", "text"),
    [
        (r"%v\n", b"value\n"),
        ("%t/%p/%o %k=%v", b"topic/3/258 key=value"),
        ("%T %K %V %H %e %i", b"5 3 5 2 7 1"),
        ("%[ %]", b"10 300"),
        ("%d", b"1644800523250"),
        ("%d{rfc3339}", b"2022-02-14T01:02:03.250Z"),
        ("%d{strftime[%F %H]}", b"2022-02-14 01"),
        ("%k{hex} %v{base64} %v{base64raw}", b"6b6579 dmFsdWU= dmFsdWU"),
        ("%h{%k=%v;}", b"a=1;b=;"),
        ("%h{%k=%v{hex} }", b"a=31 b= "),
        ("%h{%K%{%V%} }", b"1{1} 1{-1} "),
        ("%h", b"a=1,b=,"),
        ("%o{big16}%o{little16}%p{byte}", b"\x01\x02\x02\x01\x03"),
        ("%o{hex16} %o{hex64} %o{bool}", b"0102 0000000000000102 true"),
        ("%s %S %R", b"value 5 \x00\x00\x00\x05"),
        (r"\t\x41\xff\\%%%{%}", b"\tA\xff\\%{}"),
        ("käse %v", "käse value".encode()),
        ("", b""),
    ],
)
def test_templates_are_filled_in(template: str, text: bytes) -> None:
    assert printed(template) == text


def test_integers_in_keys_can_be_unpacked() -> None:
    record = TopicRecord(None, key=b"\x00\x00\x00\x05\x00\x07rest")
    assert printed("%k{unpack[>ih]}", record) == b"5 7 rest"
    assert printed("%k{unpack[q]}", TopicRecord(None, key=b"short")) == b"short"


def test_a_timestamp_beyond_the_calendar_is_printed_as_a_number() -> None:
    last_ms = 2**63 - 1
    assert printed("%d{rfc3339}", TopicRecord(b"", timestamp_ms=last_ms)) == b"%d" % last_ms
    assert printed(
        "%d{strftime[%Y]}", TopicRecord(b"", timestamp_ms=last_ms)
    )  # as the system has it


def test_null_is_nothing_unless_a_word_is_given_for_it() -> None:
    tombstone = TopicRecord(None)
    assert printed("%k|%v|%K|%V", tombstone) == b"||-1|-1"
    assert printed("%k|%v", tombstone, null=b"NULL") == b"NULL|NULL"


@pytest.mark.parametrize(
    ("template", "reason"),
    [
        ("%", "ends with %"),
        ("%q", "%q is not a field"),
        ("%a", "attributes is not available"),
        ("%v{rot13}", "a text can have {hex}"),
        ("%o{big12}", "a number can have {hex8}"),
        ("%d{unpack[i]}", "a time can have {rfc3339}"),
        ("%v{hex", "is not closed"),
        ("%h{%p}", "%p is not a field"),
        (r"\q", "is not an escape"),
        (r"\x4", "is not an escape"),
        ("\\", "is not an escape"),
        ("%v{unpack[w]}", "bad char"),
    ],
)
def test_a_bad_template_is_refused_with_the_reason(template: str, reason: str) -> None:
    with pytest.raises(BadTemplate, match=reason):
        printed(template)


@pytest.mark.parametrize(
    ("template", "content", "records"),
    [
        (r"%v\n", b"one\ntwo\n", [TopicRecord(b"one"), TopicRecord(b"two")]),
        (r"%v\n", b"one\ntwo", [TopicRecord(b"one"), TopicRecord(b"two")]),
        (r"%v\n", b"\n", [TopicRecord(b"")]),
        (r"%v\n", b"", []),
        (r"%k\t%v\n", b"a\t1\nb\t2\n", [TopicRecord(b"1", b"a"), TopicRecord(b"2", b"b")]),
        (r"%k: %v;;", b"a: b: c;d;;", [TopicRecord(b"b: c;d", b"a")]),
        ("%V{big16}%v", b"\x00\x02\n\n\x00\x01x", [TopicRecord(b"\n\n"), TopicRecord(b"x")]),
        ("%K %V %k%v", b"1 2 abc", [TopicRecord(b"bc", b"a")]),
        ("%V{big32}%v", b"\xff\xff\xff\xff", [TopicRecord(None)]),
        (r"%v{hex}\n", b"6869\n", [TopicRecord(b"hi")]),
        (r"%v{base64}\n", b"aGk=\n", [TopicRecord(b"hi")]),
        (r"%v{base64raw}\n", b"aGk\n", [TopicRecord(b"hi")]),
        (
            r"%H %h{%k=%v }%v\n",
            b"2 a=1 b=2 x\n",
            [TopicRecord(b"x", None, (("a", b"1"), ("b", b"2")))],
        ),
        (
            r"%t %p %d %v\n",
            b"t 4 99 x\n",
            [TopicRecord(b"x", topic="t", partition=4, timestamp_ms=99)],
        ),
        (r"%d{rfc3339} %v\n", b"1970-01-01T00:00:01Z x\n", [TopicRecord(b"x", timestamp_ms=1000)]),
        ("%v", b"all\nof it", [TopicRecord(b"all\nof it")]),
    ],
)
def test_records_are_read_by_the_template_that_prints_them(
    template: str, content: bytes, records: list[TopicRecord]
) -> None:
    assert read(template, content) == records


@pytest.mark.parametrize(
    ("template", "reason"),
    [("%k%v", "put a separator"), ("%o %v", "%o can be printed"), ("%h{%k=%v }", "needs the"),
     ("%v{unpack[i]}", "can be printed")],
)  # fmt: skip
def test_a_template_that_cannot_be_read_is_refused(template: str, reason: str) -> None:
    with pytest.raises(BadTemplate, match=reason):
        read(template, b"x")


@pytest.mark.parametrize(
    ("template", "content", "reason"),
    [
        (
            "%V{big32}%v",
            b"\x00\x00\x00\x01a\x7f\xff\xff\xffabc",
            "record 2: a length of 2147483647 bytes: it is longer than 268435456 bytes",
        ),
        (r"%v{hex}\n", b"zz\n", "record 1: "),
        (r"%p %v\n", b"x y\n", "record 1: 'x' is not a number"),
        (r"%k %v\n", b"a\n", 'record 1: there is no " " before the end of the input'),
        (r"%k %v\n", b"a 1\nb\nc 3\n", r'record 2: there is no " " before "\\n"'),
        (r"%d{rfc3339} %v\n", b"noon x\n", "is not a time"),
    ],
)
def test_input_that_does_not_fit_is_refused_with_the_record(
    template: str, content: bytes, reason: str
) -> None:
    with pytest.raises(BadRecord, match=reason):
        read(template, content)


@given(
    st.lists(
        st.builds(
            lambda value, key, headers: TopicRecord(value, key, headers),
            st.none() | st.binary(max_size=20),
            st.none() | st.binary(max_size=20),
            st.lists(
                st.tuples(st.text(max_size=5), st.none() | st.binary(max_size=5)), max_size=3
            ).map(tuple),
        )
    )
)
def test_with_lengths_every_record_comes_back(records: list[TopicRecord]) -> None:
    template = parse_template("%K{big32}%k%V{big32}%v%H %h{%K{big16}%k%V{big16}%v}")
    printer = record_printer(template)
    content = b"".join(printer(record, RecordContext()) for record in records)
    assert list(read_records(io.BytesIO(content), template)) == records


@pytest.mark.parametrize("encoding", sorted(NUMBER_ENCODINGS))
def test_every_way_to_write_a_number_can_be_read(encoding: str) -> None:
    for number in (0, 1):
        assert decode_number(encoding, number_encoder(encoding)(number)) == number
