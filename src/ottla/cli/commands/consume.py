"""`ottla consume`: read records: any part of a topic, or as a member of a group."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from typing import BinaryIO

from ottla.cli.arguments.offset_ranges import (
    END_WORDS,
    START_WORDS,
    BadRange,
    End,
    OffsetRange,
    parse_range,
)
from ottla.cli.cluster.connection import Connection, add_connection_arguments
from ottla.cli.consuming.plan import group_reader, partition_reader, tail_reader
from ottla.cli.consuming.reader import RecordReader
from ottla.cli.consuming.tail import last_records
from ottla.cli.errors import CommandFailed
from ottla.cli.records.filters import RecordFilter, parse_filter
from ottla.cli.records.formats import FormatRecord, record_formatter
from ottla.cli.records.record import Record
from ottla.cli.templates.parser import BadTemplate
from ottla.cli.templates.printer import RecordContext

EPILOG = r"""
offsets (-o), the same for every partition:
  start, end       all records and new ones, or only new ones
  :end             all records up to the current end
  17, 17:20, :20   from offset 17; offsets 17 to 19; up to 19
  +5, -5           all except the first five; the last five
  @T, @T1:T2, @:T  by time: 2024-02-14, 2024-02-14T09:30:00Z, 1700000000000, -48h
                   @-1h  the last hour      @2024-02-14:1h  an hour of that day

formats (-f): text, json, yaml, or a template:
  %t %p %o %d %e   topic, partition, offset, timestamp, leader epoch
  %k %v %K %V      key, value, and their lengths (-1 is null)
  %h{%k=%v, } %H   headers, and their number
  %k{hex}          also base64, unpack[>i]; for numbers big32, hex16 and others
  %d{rfc3339}      also strftime[%F %T]

examples:
  ottla consume orders                          all records, and new ones
  ottla consume orders --tail 10                the last ten of all partitions
  ottla consume orders -o @-1h:end -f '%d{rfc3339} %k %v\n'
  ottla consume orders -g billing               as a member of a group, from its committed offsets
  ottla consume orders -e --key 4711 --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("topics", nargs="+", metavar="TOPIC")
    add(
        "-o",
        "--offset",
        default="start",
        metavar="RANGE",
        help="offsets or times to read (default: start)",
    )
    add("-p", "--partition", type=int, action="append", help="only this partition; may be repeated")
    add("-g", "--group", help="join this consumer group, and commit the offsets of printed records")
    add("-n", "--count", type=count_of_records, metavar="N", help="stop after N records")
    add("-e", "--exit", action="store_true", help="stop at the end instead of waiting for more")
    add(
        "--tail",
        type=count_of_records,
        metavar="N",
        help="print the last N records of all partitions, by timestamp",
    )
    add(
        "-f",
        "--format",
        default="text",
        help="output format: text (values), json, yaml, or a template (default: text)",
    )
    add("-Z", "--null", nargs="?", const="NULL", default="", metavar="TEXT",
        help="text to print for null (default: nothing; NULL if TEXT is left out)")  # fmt: skip
    add("--key", metavar="TEXT", help="only records with this key")
    add("--grep", metavar="REGEX", help="only records whose value contains a match")
    add(
        "--header",
        action="append",
        default=[],
        metavar="NAME[=VALUE]",
        help="only records with this header",
    )
    add("--isolation", choices=["read_committed", "read_uncommitted"], default="read_committed")
    add_connection_arguments(parser)


def count_of_records(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is not a number of records")
    return min(int(text), sys.maxsize)


def run(arguments: argparse.Namespace) -> int:
    wanted_range = parse_arguments(arguments)
    output = sys.stdout.buffer
    write = make_writer(arguments)
    wanted = parse_filter(arguments.key, arguments.grep, arguments.header)
    connection = Connection.of(arguments)
    if arguments.tail is not None:
        reader, offsets = tail_reader(connection, arguments)
        with reader:
            last = last_records(reader.read_ranges, offsets, wanted, arguments.tail)
            print_records([last], wanted, write, reader, output, arguments.count)
        return 0
    if arguments.group is not None:
        reader = group_reader(connection, arguments, wanted_range)
    else:
        reader = partition_reader(connection, arguments, wanted_range)
    with reader:
        print_records(reader.batches(), wanted, write, reader, output, arguments.count)
    return 0


def parse_arguments(arguments: argparse.Namespace) -> OffsetRange:
    try:
        found = parse_range(arguments.offset, round(time.time() * 1000))
    except BadRange as error:
        raise CommandFailed(f"--offset {error}", code=2) from error
    if arguments.group is not None and arguments.offset not in (*START_WORDS, *END_WORDS):
        raise CommandFailed(
            "a group continues at its committed offsets: with it --offset is start or end",
            f"ottla groups reset {arguments.group} --to {arguments.offset} changes them",
            code=2,
        )
    if arguments.tail is not None and (arguments.group is not None or arguments.offset != "start"):
        raise CommandFailed("--tail cannot be combined with --group or --offset", code=2)
    return OffsetRange(found.start, End()) if arguments.exit and found.end is None else found


def make_writer(arguments: argparse.Namespace) -> FormatRecord:
    try:
        return record_formatter(arguments.format, arguments.null.encode())
    except BadTemplate as error:
        raise CommandFailed(f"--format {arguments.format}: {error}", code=2) from error


def print_records(
    batches: Iterable[list[Record]],
    wanted: RecordFilter,
    write: FormatRecord,
    reader: RecordReader,
    output: BinaryIO,
    count_max: int | None,
) -> None:
    """Print the chosen records; their offsets are committed after the output is flushed."""
    count = 0
    for batch in batches:
        done: list[Record] = []
        for record in batch:
            if count_max is not None and count >= count_max:
                break
            done.append(record)
            if wanted(record):
                count += 1
                output.write(write(record, RecordContext(count, reader.ends)))
        output.flush()
        reader.mark_processed(done)
        if count_max is not None and count >= count_max:
            return
