"""The records that `ottla produce` is given: as arguments, or on standard input.

Promises  every record comes with its number, and BadRecord names the line or record.
"""

from __future__ import annotations

import argparse
import io
import os
import select
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import BinaryIO, NamedTuple

from ottla.cli.errors import USAGE, CommandFailed
from ottla.cli.records.json_format import json_value, record_from_json
from ottla.cli.records.record import INPUT_BYTES_MAX, TOO_LONG, BadRecord, Header, TopicRecord
from ottla.cli.templates.parser import BadTemplate, parse_literal, parse_template
from ottla.cli.templates.reader import read_records

LINES = "%v\\n"
LINE_END = "\\n"
CRLF = "\\r\\n"
JSON_READERS: dict[str, Callable[[bytes], TopicRecord]] = {
    "json": record_from_json,
    "json-values": json_value,
}
CHUNK_BYTES = 64 * 1024
FILE_SIGN = "@"

Numbered = tuple[int, TopicRecord]


class RecordInput(NamedTuple):
    """Records with their numbers; `unit` is what the numbers count: line, record or value."""

    unit: str
    records: Iterator[Numbered]


def given_records(arguments: argparse.Namespace, stdin: BinaryIO) -> RecordInput:
    """`arguments.values` are bytes, see `argument_value`."""
    values: list[bytes] = arguments.values
    unit = "value" if values else "line"
    if arguments.key_separator is not None and arguments.format != LINES:
        raise CommandFailed(
            "--key-separator cannot be combined with --format, which says where keys are",
            code=USAGE,
        )
    lines = values or lines_of(stdin)
    if arguments.format in JSON_READERS:
        return RecordInput(unit, read_json(lines, unit, JSON_READERS[arguments.format]))
    if arguments.key_separator is not None:
        separator = key_separator(arguments.key_separator)
        keyed = enumerate(read_keyed_lines(lines, separator), 1)
        template = f"%k{arguments.key_separator.replace('%', '%%')}{LINES}"
        return RecordInput(unit, keyed if values else report_carriage_return(keyed, template))
    if "%" not in arguments.format:
        raise CommandFailed(
            f"--format {arguments.format or repr('')}: expected json, json-values or a template "
            "such as '%k\\t%v\\n'",
            code=USAGE,
        )
    if values and arguments.format != LINES:
        raise CommandFailed(
            f"--format {arguments.format} applies to standard input, but values are given",
            code=USAGE,
        )
    if values:
        return RecordInput(unit, enumerate(map(TopicRecord, values), 1))
    unit = "line" if is_one_line(arguments.format) else "record"
    try:
        records = enumerate(read_records(stdin, parse_template(arguments.format), unit), 1)
        return RecordInput(unit, report_carriage_return(records, arguments.format))
    except BadTemplate as error:
        raise CommandFailed(f"--format {arguments.format}: {error}", code=USAGE) from error


def key_separator(text: str) -> bytes:
    """With the escapes of templates: without them '\\t' would be found in no line."""
    try:
        separator = parse_literal(text)
    except BadTemplate as error:
        raise CommandFailed(f"--key-separator {text}: {error}", code=USAGE) from error
    if not separator:
        raise CommandFailed("--key-separator: the separator is empty", code=USAGE)
    return separator


def report_carriage_return(records: Iterable[Numbered], template: str) -> Iterator[Numbered]:
    """Say that a first line ends with CR LF, of which the template ends only with LF.

    The CR is kept: values may end with one, and what `consume` prints is read as it was.
    """
    given = iter(records)
    for number, record in given:
        ends_line = template.endswith(LINE_END) and not template.endswith(CRLF)
        if ends_line and any((each or b"").endswith(b"\r") for each in (record.value, record.key)):
            print(
                "ottla produce: line 1 ends with a carriage return, which is kept; for lines that "
                f"end with CR LF use --format '{template.removesuffix(LINE_END)}{CRLF}'",
                file=sys.stderr,
            )
        yield number, record
        break
    yield from given


def is_one_line(template: str) -> bool:
    """Whether each record is a line of the input, so that lines can be named in errors."""
    return template.endswith(LINE_END) and template.count(LINE_END) == 1 and "{big" not in template


def argument_value(text: str) -> bytes:
    """`@FILE` is the content of the file, `@@text` is `@text`.

    To be called once: a second read of a pipe, such as `@<(command)`, would find it empty.
    """
    if not text.startswith(FILE_SIGN):
        return os.fsencode(text)
    name = text.removeprefix(FILE_SIGN)
    if not name:
        raise CommandFailed(
            "@: the name of a file is missing", "for the value @ itself write @@", code=USAGE
        )
    if name.startswith(FILE_SIGN):
        return os.fsencode(name)
    try:
        with open(name, "rb") as file:
            content = file.read(INPUT_BYTES_MAX + 1)
        if len(content) > INPUT_BYTES_MAX:
            raise ValueError(TOO_LONG)
        return content
    except (OSError, ValueError) as error:
        raise CommandFailed(
            f"{text}: the file {name!r} cannot be read: {getattr(error, 'strerror', error)}",
            f"for the value {text} itself write {FILE_SIGN}{text}",
            code=USAGE,
        ) from error


def lines_of(stdin: BinaryIO) -> Iterator[bytes]:
    number = 0
    while line := stdin.readline(INPUT_BYTES_MAX + 1):
        number += 1
        if len(line) > INPUT_BYTES_MAX:
            raise BadRecord(f"line {number}: {TOO_LONG}")
        yield line


def read_json(
    lines: Iterable[bytes], unit: str, read: Callable[[bytes], TopicRecord]
) -> Iterator[Numbered]:
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                yield number, read(line)
        except BadRecord as error:
            raise BadRecord(f"{unit} {number}: {error}", *error.advice) from error


def read_keyed_lines(lines: Iterable[bytes], separator: bytes) -> Iterator[TopicRecord]:
    for line in lines:
        before, found, after = line.removesuffix(b"\n").partition(separator)
        yield TopicRecord(after, before) if found else TopicRecord(before)


def with_defaults(
    records: Iterable[Numbered], arguments: argparse.Namespace, headers: tuple[Header, ...]
) -> Iterator[Numbered]:
    """Records with the topic, key, headers and partition that options give to all of them."""
    key = None if arguments.key is None else os.fsencode(arguments.key)
    for number, record in records:
        yield (
            number,
            record._replace(
                key=record.key if record.key is not None else key,
                value=None if arguments.tombstone and not record.value else record.value,
                headers=record.headers + headers,
                topic=record.topic or arguments.topic,
                partition=record.partition if record.partition >= 0 else arguments.partition,
            ),
        )


# Short inputs


def take_short_input(stdin: BinaryIO) -> tuple[BinaryIO, bool]:
    """The same input, and whether it is complete and fits into one chunk.

    Waits for the first bytes, as reading the first record would. BadRecord if it cannot be read.
    """
    chunk = read_some(stdin)
    if not chunk:
        return io.BytesIO(), True
    rest = read_some(stdin) if has_input(stdin) else None
    if rest == b"":
        return io.BytesIO(chunk), True
    return io.BufferedReader(Continued(chunk + (rest or b""), stdin), CHUNK_BYTES), False


def read_some(stdin: BinaryIO, size: int = CHUNK_BYTES) -> bytes:
    """What there is, at most `size` bytes; empty at the end."""
    try:
        return bytes(stdin.read1(size))  # type: ignore[attr-defined]
    except OSError as error:
        raise BadRecord(f"standard input cannot be read: {error.strerror}") from error


def has_input(stdin: BinaryIO) -> bool:
    """Whether reading returns at once, with bytes or because the input has ended."""
    try:
        return bool(select.select([stdin], [], [], 0)[0])
    except (OSError, ValueError):  # not a descriptor
        return True


class Continued(io.RawIOBase):
    """Bytes that were read already, then the rest of the file."""

    def __init__(self, begin: bytes, file: BinaryIO) -> None:
        self._begin = memoryview(begin)
        self._file = file

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: bytearray | memoryview) -> int:  # type: ignore[override]
        content: bytes | memoryview
        if not self._begin:
            content = read_some(self._file, len(buffer))
        else:
            content, self._begin = self._begin[: len(buffer)], self._begin[len(buffer) :]
        buffer[: len(content)] = content
        return len(content)
