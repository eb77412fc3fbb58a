"""`ottla consume`: read records: any part of a topic, or as a member of a group."""

from __future__ import annotations

import argparse
import io
import os
import sys
import time
from collections.abc import Iterable, Iterator
from typing import BinaryIO

from ottla.cli.arguments.numbers import INT32_MAX, INT64_MAX, whole_number
from ottla.cli.arguments.offset_ranges import (
    END_WORDS,
    START_WORDS,
    BadRange,
    End,
    OffsetRange,
    parse_range,
)
from ottla.cli.arguments.texts import Once
from ottla.cli.cluster.connection import ClusterConnection, add_connection_arguments
from ottla.cli.cluster.groups import group_name
from ottla.cli.cluster.topics import SEE_TOPICS, add_topics_argument, given_topics
from ottla.cli.consuming.plan import group_reader, partition_reader, tail_reader
from ottla.cli.consuming.reader import RecordReader
from ottla.cli.consuming.tail import last_records
from ottla.cli.errors import USAGE, CommandFailed
from ottla.cli.process import check_output_is_read
from ottla.cli.records.filters import RecordFilter, parse_filter
from ottla.cli.records.formats import FormatRecord, record_formatter
from ottla.cli.records.record import TopicRecord
from ottla.cli.templates.parser import BadTemplate
from ottla.cli.templates.printer import RecordContext

EPILOG = r"""
offsets (-o), the same for every partition:
  start, end       all records and new ones, or only new ones
  :end             all records up to the current end
  17, 17:20, :20   from offset 17; offsets 17 to 19; up to 19
  +5, -5           all except the first five; the last five
  @T, @T1:T2, @:T  by time: 2024-02-14, 2024-02-14T09:30:00Z, 1700000000000, -48h
                   @-1h  the last hour      @2024-02-14:1h  an hour of that day (UTC)

formats (-f): text, json, yaml, or a template:
  %t %p %o %d %e   topic, partition, offset, timestamp, leader epoch
  %k %v %K %V      key, value, and their lengths (-1 is null)
  %h{%k=%v, } %H   headers, and their number
  %k{hex}          also base64, unpack[>i]; for numbers big32, hex16 and others
  %d{rfc3339}      also strftime[%F %T]

examples:
  ottla consume orders                          all records, and new ones
  ottla consume orders --tail 10 --follow       the last ten of all partitions, and new ones
  ottla consume orders -o @-1h:end -f '%d{rfc3339} %k %v\n'
  ottla consume orders -g billing               as a member of a group, from its committed offsets
  ottla consume orders -e --key 4711 --format json
"""


NULL = "NULL"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add_topics_argument(parser, "names, or patterns such as 'orders*'")
    add("-p", "--partition", type=partition_number, action="append",
        help="only this partition; may be repeated")  # fmt: skip
    add("-g", "--group", type=group_name, action=Once,
        help="join this consumer group, and commit the offsets of printed records")  # fmt: skip
    add("-n", "--count", "--max-messages", type=count_of_records, metavar="N",
        help="stop after N records")  # fmt: skip
    begin = parser.add_mutually_exclusive_group()
    begin.add_argument("-o", "--offset", metavar="RANGE", action=Once,
                       help="offsets or times to read (default: start)")  # fmt: skip
    begin.add_argument("--from-beginning", action="store_const", const="start", dest="offset",
                       help="the same as --offset start")  # fmt: skip
    begin.add_argument("--tail", type=count_of_records, metavar="N",
                       help="print the last N records of all partitions, by timestamp")  # fmt: skip
    end = parser.add_mutually_exclusive_group()
    end.add_argument("-e", "--exit", action="store_true",
                     help="stop at the end instead of waiting for more")  # fmt: skip
    end.add_argument("-F", "--follow", action="store_true",
                     help="wait for more records, also after --tail")  # fmt: skip
    add("-f", "--format", default="text",
        help="output format: text (values), json, yaml, or a template (default: text)")  # fmt: skip
    add("-Z", "--null", nargs="?", const=NULL, default="", metavar="TEXT",
        help="text to print for null (default: nothing; NULL if TEXT is left out)")  # fmt: skip
    add("--key", metavar="TEXT", action=Once, help="only records with this key")
    add("--grep", metavar="REGEX", action=Once, several="write one REGEX: 'this|that'",
        help="only records whose value contains a match")  # fmt: skip
    add("--header", action="append", default=[], metavar="NAME[=VALUE]",
        help="only records with this header")  # fmt: skip
    add("--isolation", choices=["read_committed", "read_uncommitted"], default="read_committed")
    add_connection_arguments(parser)


def advice_without_topic(null_text: str) -> str:
    """`consume -Z orders` gives -Z the text."""
    if null_text in ("", NULL):
        return SEE_TOPICS
    return f"{null_text} is the text of -Z: write -Z after the topic, or -Z {NULL}"


def partition_number(text: str) -> int:
    if "," in text:
        raise argparse.ArgumentTypeError(f"{text!r}: give each partition with -p of its own")
    return whole_number(0, INT32_MAX)(text)


def count_of_records(text: str) -> int:
    return whole_number(0, INT64_MAX)(text)


def run(arguments: argparse.Namespace) -> int:
    wanted_range = parse_arguments(arguments)
    output = buffered(sys.stdout.buffer)
    write = make_writer(arguments, is_terminal=sys.stdout.isatty())
    wanted = parse_filter(arguments.key, arguments.grep, arguments.header)
    arguments.topics = given_topics(arguments, advice_without_topic(arguments.null))
    connection = ClusterConnection.of(arguments)
    if arguments.tail is not None:
        reader, offsets = tail_reader(connection, arguments)
        with reader:
            last = last_records(reader.read_ranges, offsets, wanted, arguments.tail)
            count = print_records([last], wanted, write, reader, output, arguments.count)
            if arguments.follow and count != arguments.count:
                batches = while_output_is_read(
                    reader.follow({each: end for each, (_, end) in offsets.items()})
                )
                print_records(batches, wanted, write, reader, output, arguments.count, count)
        return 0
    if arguments.group is not None:
        reader = group_reader(connection, arguments, wanted_range)
    else:
        reader = partition_reader(connection, arguments, wanted_range)
    with reader:
        batches = while_output_is_read(reader.batches())
        print_records(batches, wanted, write, reader, output, arguments.count)
    return 0


def parse_arguments(arguments: argparse.Namespace) -> OffsetRange:
    offset = START_WORDS[0] if arguments.offset is None else arguments.offset
    try:
        found = parse_range(offset, round(time.time() * 1000))
    except BadRange as error:
        raise CommandFailed(f"--offset {error}", code=USAGE) from error
    if arguments.follow and found.end is not None:
        raise CommandFailed(f"--offset {offset} has an end, so --follow cannot be used", code=USAGE)
    if arguments.group is None:
        return OffsetRange(found.start, End()) if arguments.exit and found.end is None else found
    if offset not in (*START_WORDS, *END_WORDS):
        raise CommandFailed(
            "a group continues at its committed offsets: with it --offset is start or end",
            *(
                [f"ottla groups reset {arguments.group} --to {offset} changes them"]
                if found.end is None
                else []
            ),
            code=USAGE,
        )
    for option in ("tail", "partition"):
        if getattr(arguments, option) is not None:
            raise CommandFailed(f"--{option} cannot be combined with --group", code=USAGE)
    return OffsetRange(found.start, End()) if arguments.exit else found


def make_writer(arguments: argparse.Namespace, *, is_terminal: bool) -> FormatRecord:
    try:
        return record_formatter(
            arguments.format, os.fsencode(arguments.null), is_terminal=is_terminal
        )
    except BadTemplate as error:
        raise CommandFailed(
            f"--format {arguments.format or repr('')}: {error}", code=USAGE
        ) from error


def while_output_is_read(batches: Iterable[list[TopicRecord]]) -> Iterator[list[TopicRecord]]:
    """The batches, until the reader of a pipe has ended: in `ottla consume orders | head -2`, no
    write would fail before the next record arrives, if one ever does.
    """
    for batch in batches:
        check_output_is_read()
        yield batch


def print_records(
    batches: Iterable[list[TopicRecord]],
    wanted: RecordFilter,
    write: FormatRecord,
    reader: RecordReader,
    output: BinaryIO,
    count_max: int | None,
    count: int = 0,
) -> int:
    """Print the chosen records; their offsets are committed after the output is flushed.

    Returns how many were printed, including the `count` before.
    """
    if count_max is not None and count >= count_max:
        return count
    for batch in batches:
        done: list[TopicRecord] = []
        try:
            for record in batch:
                if wanted(record):
                    output.write(write(record, RecordContext(count + 1, reader.ends)))
                    count += 1
                done.append(record)
                if count == count_max:
                    break
            finish_batch(done, reader, output)
        except KeyboardInterrupt:
            finish_batch(done, reader, output)  # wherever it was interrupted; twice does no harm
            raise
        if count == count_max:
            break
    return count


def buffered(output: BinaryIO) -> BinaryIO:
    """The output with a buffer, also if PYTHONUNBUFFERED took it away: one write for a batch, which
    is committed right after it.
    """
    if not isinstance(output, io.RawIOBase):
        return output
    return open(output.fileno(), "wb", closefd=False)


def finish_batch(done: list[TopicRecord], reader: RecordReader, output: BinaryIO) -> None:
    output.flush()
    reader.mark_processed(done)
