"""`ottla produce`: write records, from arguments or from standard input."""

from __future__ import annotations

import argparse
import io
import os
import sys
from collections.abc import Iterable
from contextlib import suppress
from typing import Any, BinaryIO

from ottla.cli.arguments.name_values import parse_name_value
from ottla.cli.arguments.numbers import INT32_MAX, whole_number
from ottla.cli.arguments.texts import Once
from ottla.cli.cluster.connection import ClusterConnection, add_connection_arguments
from ottla.cli.cluster.topic_configs import creates_topics, message_bytes_max
from ottla.cli.errors import USAGE, CommandFailed, suggestions
from ottla.cli.output.documents import FORMATS, show
from ottla.cli.output.tables import count_text
from ottla.cli.process import output_after
from ottla.cli.producing.failures import invalid_topic_name, is_valid_topic_name, no_topic
from ottla.cli.producing.input import (
    LINES,
    Numbered,
    argument_value,
    given_records,
    take_short_input,
    with_defaults,
)
from ottla.cli.producing.sender import RecordSender
from ottla.cli.records.record import BadRecord, Header

EPILOG = """\
Without values, each line of standard input is a value. --format says how records are read instead:
  '%k\\t%v\\n'                   key and value, separated by a tab
  '%K{big32}%k%V{big32}%v'     each preceded by its length
  json                         objects as `ottla consume --format json` prints them
  json-values                  each line is a value, which must be JSON
A template is the one with which `ottla consume` would print the records.

examples:
  ottla produce greetings hello 'hello again'
  ottla produce orders -k 4711 -H source=shop '{"total": 12}'
  ottla produce orders -k 4711 -Z ''            (a tombstone)
  ottla produce pictures @photo.jpg             (@@text for a value that begins with @)
  ottla consume orders --format json -e | ottla produce copy --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("topic", nargs="?", metavar="TOPIC")
    add("values", nargs="*", default=[], metavar="VALUE",
        help="the values, a record each; @FILE is the content of a file")  # fmt: skip
    add("--topic", dest="topic_option", metavar="TOPIC", help="the same as TOPIC")
    add(
        "-f",
        "--format",
        default=LINES,
        metavar="FORMAT",
        help="input format: a template, json, or json-values",
    )
    add("-K", "--key-separator", metavar="TEXT",
        help="lines are KEY TEXT VALUE, TEXT such as : or '\\t'; a line without TEXT has no "
             "key")  # fmt: skip
    add("-k", "--key", action=Once, help="key of all records that have none")
    add("-H", "--header", action="append", default=[], metavar="NAME=VALUE",
        help="a header of all records; may be repeated")  # fmt: skip
    add(
        "-p",
        "--partition",
        action=Once,
        type=whole_number(0, INT32_MAX),
        default=-1,
        help="partition (default: chosen by the key)",
    )
    add("-Z", "--tombstone", action="store_true", help="write null instead of empty values")
    add("-z", "--compression", default="none", choices=["none", "gzip", "snappy", "lz4", "zstd"])
    add("--acks", default="all", choices=["all", "1", "0"], type=acks_of,
        help="replicas that must have a record to acknowledge it (default: all)")  # fmt: skip
    add("-o", "--output", choices=[*FORMATS, "none"], default="text",
        help="format of the result (default: text)")  # fmt: skip
    add_connection_arguments(parser)


def acks_of(text: str) -> str:
    """-1 is what producers send for `all`."""
    return "all" if text == "-1" else text


def run(arguments: argparse.Namespace) -> int:
    """However it ends, it says what was acknowledged."""
    sender: RecordSender | None = None
    try:
        take_topic(arguments)
        if not is_valid_topic_name(arguments.topic):  # librdkafka does not check it
            raise invalid_topic_name(arguments.topic)
        headers = tuple(parse_header(each) for each in arguments.header)
        arguments.values = [argument_value(each) for each in arguments.values]
        check_format(arguments)
        connection = ClusterConnection.of(arguments)
        batch_bytes = check_topic(connection, arguments.topic)
        stdin, is_short = open_input(arguments)
        given = given_records(arguments, stdin)
        sender = RecordSender(
            connection,
            unit=given.unit,
            acks=arguments.acks,
            compression=arguments.compression,
            is_short=is_short,
            batch_bytes=batch_bytes,
        )
        send(sender, with_defaults(given.records, arguments, headers))
        show_result(arguments, sender)
        return 0
    except KeyboardInterrupt:
        print(f"ottla produce: interrupted: {sent_before_the_end(sender)}", file=sys.stderr)
        raise


def sent_before_the_end(sender: RecordSender | None) -> str:
    if sender is None:
        return "nothing was sent"
    with suppress(KeyboardInterrupt):  # asked again: without waiting for what is in flight
        sender.stop()
    return "; ".join(sender.summary())


def take_topic(arguments: argparse.Namespace) -> None:
    """With --topic all other words are values."""
    if arguments.topic_option is not None:
        before = [] if arguments.topic is None else [arguments.topic]
        arguments.topic, arguments.values = arguments.topic_option, [*before, *arguments.values]
    if arguments.topic is None:
        raise CommandFailed("name a topic", "such as: ottla produce greetings hello", code=USAGE)


def send(sender: RecordSender, records: Iterable[Numbered]) -> None:
    try:
        sender.send_all(records)
    except BadRecord as error:
        sender.stop()
        raise CommandFailed(str(error), *sender.summary(), *error.advice) from error


def open_input(arguments: argparse.Namespace) -> tuple[BinaryIO, bool]:
    """Standard input, and whether the records are few: values, or an input that is short."""
    stdin = sys.stdin.buffer
    if arguments.values:
        return stdin, True
    if stdin.isatty():
        print("each line is a record; Ctrl-D ends the input", file=sys.stderr)
    try:
        return take_short_input(stdin)
    except BadRecord as error:
        raise CommandFailed(str(error), "0 records were sent") from error


def check_format(arguments: argparse.Namespace) -> None:
    """Refuse a wrong format before anything is read."""
    given_records(arguments, io.BytesIO())


def parse_header(text: str) -> Header:
    name, value = parse_name_value("-H", text)
    return name, os.fsencode(value)


def check_topic(connection: ClusterConnection, topic: str) -> int | None:
    """How large a batch may be, if that is known. A topic that is created is reported: its name may
    be a typing error.
    """
    admin = connection.admin()
    metadata = connection.metadata(admin)
    if topic in metadata.topics:
        return message_bytes_max(connection, admin, topic)
    if creates_topics(connection, admin, min(metadata.brokers)) is False:
        message, *advice = no_topic(topic, metadata.topics)
        raise CommandFailed(message, *advice)
    question = "".join(f"; {each}" for each in suggestions(topic, metadata.topics))
    print(
        f"ottla produce: topic {topic} does not exist: its first record creates it{question}",
        file=sys.stderr,
    )
    return None


def show_result(arguments: argparse.Namespace, sender: RecordSender) -> None:
    if arguments.output == "none":
        return
    for partition in sender.restarted:
        print(
            f"ottla produce: partition {partition.partition} of {partition.topic} began again at a "
            "lower offset: the topic was deleted and created meanwhile, and records before that "
            "are gone",
            file=sys.stderr,
        )
    if not sender.acknowledged and arguments.output == "text":
        print("ottla produce: the input is empty: 0 records were sent", file=sys.stderr)
    document = [
        {
            "topic": partition.topic,
            "partition": partition.partition,
            "records": count,
            "first_offset": first,
            "last_offset": last,
        }
        for partition, (count, first, last) in sorted(sender.acknowledged.items())
    ]
    with output_after(*sender.summary()):
        show(arguments.output, document, lambda: "\n".join(map(as_text, document)))


def as_text(row: dict[str, Any]) -> str:
    partition = f"partition {row['partition']} of {row['topic']}"
    offsets = f"offset {row['first_offset']}"
    if row["first_offset"] < 0:
        offsets = "offsets unknown"  # acks=0
    elif row["records"] > 1:
        offsets = f"offsets {row['first_offset']} to {row['last_offset']}"
    return f"{count_text(row['records'], 'record')} to {partition}, {offsets}"
