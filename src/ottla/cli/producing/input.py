"""The records that `ottla produce` is given: as arguments, or on standard input."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import BinaryIO

from ottla.cli.errors import USAGE, CommandFailed
from ottla.cli.records.json_format import BadRecord, record_from_json
from ottla.cli.records.record import Header, Record
from ottla.cli.templates.parser import BadTemplate, parse_template
from ottla.cli.templates.reader import read_records

LINES = "%v\\n"


def given_records(arguments: argparse.Namespace, stdin: BinaryIO) -> Iterator[Record]:
    values = [value.encode() for value in arguments.values]
    if stdin.isatty() and not values:
        print("each line is a record; Ctrl-D ends the input", file=sys.stderr)
    if arguments.format == "json":
        return read_json(values or stdin)
    if arguments.key_separator is not None:
        return read_keyed_lines(values or stdin, arguments.key_separator.encode())
    if values and arguments.format != LINES:
        raise CommandFailed(
            f"--format {arguments.format} applies to standard input, but values are given",
            code=USAGE,
        )
    if values:
        return iter([Record(value) for value in values])
    try:
        return read_records(stdin, parse_template(arguments.format))
    except BadTemplate as error:
        raise CommandFailed(f"--format {arguments.format}: {error}", code=USAGE) from error


def read_json(lines: Iterable[bytes]) -> Iterator[Record]:
    for number, line in enumerate(lines, 1):
        try:
            if line.strip():
                yield record_from_json(line)
        except BadRecord as error:
            raise BadRecord(f"line {number}: {error}") from error


def read_keyed_lines(lines: Iterable[bytes], separator: bytes) -> Iterator[Record]:
    for line in lines:
        before, found, after = line.removesuffix(b"\n").partition(separator)
        yield Record(after, before) if found else Record(before)


def with_defaults(
    records: Iterable[Record], arguments: argparse.Namespace, headers: tuple[Header, ...]
) -> Iterator[Record]:
    """Records with the topic, key, headers and partition that options give to all of them."""
    key = None if arguments.key is None else arguments.key.encode()
    for record in records:
        yield replace(
            record,
            key=record.key if record.key is not None else key,
            value=None if arguments.tombstone and not record.value else record.value,
            headers=record.headers + headers,
            topic=record.topic or arguments.topic,
            partition=record.partition if record.partition >= 0 else arguments.partition,
        )
