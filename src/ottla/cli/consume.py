"""`ottla consume`: read records: any part of a topic, or as a member of a group."""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterable
from typing import BinaryIO

from ottla.cli.connection import Connection, add_connection_arguments
from ottla.cli.filters import Wanted, parse_filter
from ottla.cli.offset_ranges import (
    END_WORDS,
    START_WORDS,
    BadRange,
    End,
    OffsetRange,
    parse_range,
)
from ottla.cli.problems import CommandFailed
from ottla.cli.reading import Reading
from ottla.cli.reading_plan import group_reading, partition_reading, tail_reading
from ottla.cli.record_output import Write, record_writer
from ottla.cli.record_printing import Around
from ottla.cli.records import Record
from ottla.cli.tail import last_records
from ottla.cli.templates import BadTemplate

EPILOG = r"""
offsets (-o), the same for every partition:
  start, end       everything, or only what comes from now on
  :end             everything, and stop at the end as it is now
  17, 17:20, :20   from offset 17; offsets 17 to 19; up to 19
  +5, -5           from the fifth after the start; the last five
  @T, @T1:T2, @:T  by time: 2024-02-14, 2024-02-14T09:30:00Z, 1700000000000, -48h
                   @-1h  the last hour      @2024-02-14:1h  an hour of that day

formats (-f): text, json, yaml, or a template:
  %t %p %o %d %e   topic, partition, offset, timestamp, leader epoch
  %k %v %K %V      key, value, and their lengths (-1 is null)
  %h{%k=%v, } %H   headers, and how many
  %k{hex}          also base64, unpack[>i], and for numbers big32, hex16 and others
  %d{rfc3339}      also strftime[%F %T]

examples:
  ottla consume orders                          everything, and what comes
  ottla consume orders --tail 10                the last ten of all partitions
  ottla consume orders -o @-1h:end -f '%d{rfc3339} %k %v\n'
  ottla consume orders -g billing               as the group does, from where it stopped
  ottla consume orders -e --key 4711 --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("topics", nargs="+", metavar="TOPIC")
    add("-o", "--offset", default="start", metavar="RANGE", help="which part to read (start)")
    add("-p", "--partition", type=int, action="append", help="only this one; may be repeated")
    add("-g", "--group", help="read as a member of this group, and commit what was read")
    add("-n", "--count", type=count_of_records, metavar="N", help="stop after so many records")
    add("-e", "--exit", action="store_true", help="stop at the end instead of waiting for more")
    add(
        "--tail",
        type=count_of_records,
        metavar="N",
        help="the last N records of all partitions, by time",
    )
    add("-f", "--format", default="text", help="text (the values), json, yaml, or a template")
    add("-Z", "--null", nargs="?", const="NULL", default="", metavar="TEXT",
        help="what to print for null (nothing; NULL without TEXT)")  # fmt: skip
    add("--key", metavar="TEXT", help="only records with this key")
    add("--grep", metavar="REGEX", help="only records whose value matches")
    add("--header", action="append", default=[], metavar="NAME[=VALUE]", help="only with this")
    add("--isolation", choices=["read_committed", "read_uncommitted"], default="read_committed")
    add_connection_arguments(parser)


def count_of_records(text: str) -> int:
    if not (text.isascii() and text.isdigit()):
        raise argparse.ArgumentTypeError(f"{text!r} is no number of records")
    return min(int(text), sys.maxsize)


def run(arguments: argparse.Namespace) -> int:
    wanted_range = parse_arguments(arguments)
    output = sys.stdout.buffer
    write = make_writer(arguments)
    wanted = parse_filter(arguments.key, arguments.grep, arguments.header)
    connection = Connection.of(arguments)
    if arguments.tail is not None:
        reading, offsets = tail_reading(connection, arguments)
        with reading:
            last = last_records(reading.stretches, offsets, wanted, arguments.tail)
            print_records([last], wanted, write, reading, output, arguments.count)
        return 0
    if arguments.group is not None:
        reading = group_reading(connection, arguments, wanted_range)
    else:
        reading = partition_reading(connection, arguments, wanted_range)
    with reading:
        print_records(reading.batches(), wanted, write, reading, output, arguments.count)
    return 0


def parse_arguments(arguments: argparse.Namespace) -> OffsetRange:
    try:
        found = parse_range(arguments.offset, round(time.time() * 1000))
    except BadRange as error:
        raise CommandFailed(f"--offset {error}", code=2) from error
    if arguments.group is not None and arguments.offset not in (*START_WORDS, *END_WORDS):
        raise CommandFailed(
            "a group goes on where it stopped: with --group, --offset can only be start or end",
            f"ottla groups reset {arguments.group} --to {arguments.offset} moves a group",
            code=2,
        )
    if arguments.tail is not None and (arguments.group is not None or arguments.offset != "start"):
        raise CommandFailed("--tail goes neither with --group nor with --offset", code=2)
    return OffsetRange(found.start, End()) if arguments.exit and found.end is None else found


def make_writer(arguments: argparse.Namespace) -> Write:
    try:
        return record_writer(arguments.format, arguments.null.encode())
    except BadTemplate as error:
        raise CommandFailed(f"--format {arguments.format}: {error}", code=2) from error


def print_records(
    batches: Iterable[list[Record]],
    wanted: Wanted,
    write: Write,
    reading: Reading,
    output: BinaryIO,
    count_max: int | None,
) -> None:
    """What was printed is out before it is committed."""
    count = 0
    for batch in batches:
        done: list[Record] = []
        for record in batch:
            if count_max is not None and count >= count_max:
                break
            done.append(record)
            if wanted(record):
                count += 1
                output.write(write(record, Around(count, reading.ends)))
        output.flush()
        reading.done_with(done)
        if count_max is not None and count >= count_max:
            return
