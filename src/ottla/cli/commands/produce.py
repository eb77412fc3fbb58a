"""`ottla produce`: write records, from arguments or from standard input."""

from __future__ import annotations

import argparse
import sys
from typing import Any

from ottla.cli.arguments.name_values import parse_name_value
from ottla.cli.cluster.connection import Connection, add_connection_arguments
from ottla.cli.errors import CommandFailed, suggestions
from ottla.cli.output.documents import FORMATS, show
from ottla.cli.output.tables import count_text
from ottla.cli.producing.input import LINES, given_records, with_defaults
from ottla.cli.producing.sender import RecordSender, invalid_topic_name, is_valid_topic_name
from ottla.cli.records.json_format import BadRecord
from ottla.cli.records.record import Header
from ottla.cli.templates.parser import BadTemplate

EPILOG = """\
Without values, each line of standard input is a record. --format says how input is read instead:
  '%k\\t%v\\n'                   key and value, separated by a tab
  '%K{big32}%k%V{big32}%v'     each preceded by its length
  json                         what `ottla consume --format json` prints; also for values
A template is the one with which `ottla consume` would print the records.

examples:
  ottla produce greetings hello 'hello again'
  ottla produce orders -k 4711 -H source=shop '{"total": 12}'
  ottla produce orders -k 4711 -Z ''            (a tombstone)
  ottla consume orders --format json -e | ottla produce copy --format json
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("topic", metavar="TOPIC")
    add("values", nargs="*", default=[], metavar="VALUE", help="the values, one for each record")
    add("-f", "--format", default=LINES, metavar="FORMAT", help="input format: a template, or json")
    add("-K", "--key-separator", metavar="TEXT",
        help="lines are KEY TEXT VALUE; a line without TEXT has no key")  # fmt: skip
    add("-k", "--key", help="key of all records that have none")
    add("-H", "--header", action="append", default=[], metavar="NAME=VALUE",
        help="a header of all records; may be repeated")  # fmt: skip
    add("-p", "--partition", type=int, default=-1, help="partition (default: chosen by the key)")
    add("-Z", "--tombstone", action="store_true", help="write null instead of empty values")
    add("-z", "--compression", default="none", choices=["none", "gzip", "snappy", "lz4", "zstd"])
    add("--acks", default="all", choices=["all", "1", "0"],
        help="replicas that must have a record to acknowledge it (default: all)")  # fmt: skip
    add("-o", "--output", choices=[*FORMATS, "none"], default="text",
        help="format of the result (default: text)")  # fmt: skip
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    if not is_valid_topic_name(arguments.topic):  # librdkafka does not check it
        raise invalid_topic_name(arguments.topic)
    headers = tuple(parse_header(each) for each in arguments.header)
    records = with_defaults(given_records(arguments, sys.stdin.buffer), arguments, headers)
    connection = Connection.of(arguments)
    sender = RecordSender(connection, arguments)
    report_new_topic(connection, sender.producer, arguments.topic)
    try:
        for record in records:
            sender.send(record)
    except (BadRecord, BadTemplate) as error:
        raise CommandFailed(f"{error}", *sender.finish_after_bad_input()) from error
    sender.finish()
    show_result(arguments, sender)
    return 0


def parse_header(text: str) -> Header:
    name, value = parse_name_value("-H", text)
    return name, value.encode()


def report_new_topic(connection: Connection, producer: Any, topic: str) -> None:
    """An automatically created topic may be a typing error."""
    topics = connection.metadata(producer).topics
    if topic not in topics:
        question = "".join(f"; {each}" for each in suggestions(topic, topics))
        print(f"ottla produce: there is no topic {topic} yet{question}", file=sys.stderr)


def show_result(arguments: argparse.Namespace, sender: RecordSender) -> None:
    if arguments.output == "none":
        return
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
    show(arguments.output, document, lambda: "\n".join(map(as_text, document)))


def as_text(row: dict[str, Any]) -> str:
    partition = f"partition {row['partition']} of {row['topic']}"
    offsets = f"offset {row['first_offset']}"
    if row["first_offset"] < 0:
        offsets = "offsets unknown"  # acks=0
    elif row["records"] > 1:
        offsets = f"offsets {row['first_offset']} to {row['last_offset']}"
    return f"{count_text(row['records'], 'record')} to {partition}, {offsets}"
