"""`ottla produce`: write records, from arguments or from standard input."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import Any, BinaryIO

from ottla.cli.connection import Connection, add_connection_arguments, confluent_kafka
from ottla.cli.json_records import BadRecord, record_from_json
from ottla.cli.output import FORMATS, counted, show
from ottla.cli.problems import CommandFailed, hint
from ottla.cli.record_reading import read_records
from ottla.cli.records import Header, Record
from ottla.cli.templates import BadTemplate, parse_template

EPILOG = """\
Without values each line of standard input is a record. --format says how it is read otherwise
(of values, that they are json):
  '%k\\t%v\\n'                   key and value with a tab between them
  '%K{big32}%k%V{big32}%v'     each after its length
  json                         what `ottla consume --format json` prints
A template is the one with which `ottla consume` would print the records.

examples:
  ottla produce greetings hello 'hello again'
  ottla produce orders -k 4711 -H source=shop '{"total": 12}'
  ottla produce orders -k 4711 -Z ''            (a tombstone)
  ottla consume orders --format json -e | ottla produce copy --format json
"""
NAME_RULE = "it may have letters and digits of ASCII, '.', '_' and '-', and 249 of them at most"
LINES = "%v\\n"
NEW_TOPIC_MS = 5_000  # how long a topic that is made by writing to it may take to appear


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add = parser.add_argument
    add("topic", metavar="TOPIC")
    add("values", nargs="*", default=[], metavar="VALUE", help="each one a record")
    add("-f", "--format", default=LINES, metavar="TEMPLATE", help="how to read them; or json")
    add("-K", "--key-separator", metavar="TEXT", help="lines are KEY TEXT VALUE; no TEXT, no key")
    add("-k", "--key", help="the key of all records that bring none")
    add("-H", "--header", action="append", default=[], metavar="NAME=VALUE", help="for all records")
    add("-p", "--partition", type=int, default=-1, help="instead of the one the key leads to")
    add("-Z", "--tombstone", action="store_true", help="an empty value is null")
    add("-z", "--compression", default="none", choices=["none", "gzip", "snappy", "lz4", "zstd"])
    add("--acks", default="all", choices=["all", "1", "0"], help="which brokers must have it (all)")
    add("-o", "--output", choices=[*FORMATS, "none"], default="text", help="how to show the result")
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    if not is_name(arguments.topic):  # clients differ in what they make of it
        raise no_name(arguments.topic)
    headers = tuple(parse_header(each) for each in arguments.header)
    records = completed(given_records(arguments, sys.stdin.buffer), arguments, headers)
    connection = Connection.of(arguments)
    sent = Sending(connection, arguments)
    say_if_new(connection, sent.producer, arguments.topic)
    try:
        for record in records:
            sent.send(record)
    except (BadRecord, BadTemplate) as error:
        raise CommandFailed(f"{error}", *sent.finish_in_words()) from error
    sent.finish()
    show_result(arguments, sent)
    return 0


# What to send


def given_records(arguments: argparse.Namespace, stdin: BinaryIO) -> Iterator[Record]:
    values = [value.encode() for value in arguments.values]
    if stdin.isatty() and not values:
        print("each line is a record; Ctrl-D ends", file=sys.stderr)
    if arguments.format == "json":
        return read_json(values or stdin)
    if arguments.key_separator is not None:
        return read_keyed_lines(values or stdin, arguments.key_separator.encode())
    if values and arguments.format != LINES:
        raise CommandFailed(
            f"--format {arguments.format} is for standard input, but values are given", code=2
        )
    if values:
        return iter([Record(value) for value in values])
    try:
        return read_records(stdin, parse_template(arguments.format))
    except BadTemplate as error:
        raise CommandFailed(f"--format {arguments.format}: {error}", code=2) from error


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


def completed(
    records: Iterable[Record], arguments: argparse.Namespace, headers: tuple[Header, ...]
) -> Iterator[Record]:
    """With what the options say for all of them."""
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


def parse_header(text: str) -> Header:
    name, equals, value = text.partition("=")
    if not equals:
        raise CommandFailed(f"-H {text}: expected NAME=VALUE", code=2)
    return name, value.encode()


# Sending


class Sending:
    """Records on their way, and where they arrived."""

    def __init__(self, connection: Connection, arguments: argparse.Namespace) -> None:
        self._connection = connection
        self.producer = connection.producer(
            acks=arguments.acks,
            # librdkafka takes half a second to begin with it, which a record or two need not wait.
            enable_idempotence=arguments.acks == "all" and not arguments.values,
            compression_type=arguments.compression,
            partitioner="murmur2_random",  # as Kafka's own producer: one key, one partition
            message_timeout_ms=max(1, round(connection.timeout_s * 1000)),
            topic_metadata_propagation_max_ms=NEW_TOPIC_MS,
            linger_ms=1,
        )
        self.arrived: dict[tuple[str, int], list[int]] = {}  # count, first and last offset
        self.error: Any = None

    def send(self, record: Record) -> None:
        timestamp = {"timestamp": record.timestamp_ms} if record.timestamp_ms >= 0 else {}
        while True:
            try:
                self.producer.produce(
                    record.topic,
                    record.value,
                    record.key,
                    record.partition,
                    self._delivered,
                    headers=list(record.headers),
                    **timestamp,
                )
                break
            except BufferError:
                self.producer.poll(0.1)  # the queue is full: wait for room
            except confluent_kafka().KafkaException as error:
                raise self._refused(error.args[0], record.topic, record.partition) from error
        self.producer.poll(0)
        self._check()

    def finish(self) -> None:
        self.producer.flush(self._connection.timeout_s + 5)
        self._check()
        if len(self.producer):
            raise self._connection.no_answer()

    def finish_in_words(self) -> list[str]:
        """After an error in the input: what came before it is sent."""
        self.finish()
        count = sum(each[0] for each in self.arrived.values())
        return [f"{counted(count, 'record')} before that {'was' if count == 1 else 'were'} written"]

    def _delivered(self, error: Any, message: Any) -> None:
        if error is not None:
            self.error = self.error or (error, message.topic(), message.partition())
            return
        place = (message.topic(), message.partition())
        seen = self.arrived.setdefault(place, [0, message.offset(), message.offset()])
        seen[0] += 1
        seen[1] = min(seen[1], message.offset())
        seen[2] = max(seen[2], message.offset())

    def _check(self) -> None:
        if self.error is None:
            return
        raise self._refused(*self.error)

    def _refused(self, error: Any, topic: str, partition: int) -> CommandFailed:
        library = confluent_kafka().KafkaError
        known = self._connection.metadata(self.producer).topics
        if error.code() == library.TOPIC_EXCEPTION or not is_name(topic):
            return no_name(topic)
        if topic not in known:
            return CommandFailed(
                f"there is no topic {topic}, and the cluster makes none by itself",
                f"ottla topics create {topic}",
                *hint(topic, known),
            )
        if error.code() == library._UNKNOWN_PARTITION:
            count = len(known[topic].partitions)
            return CommandFailed(f"{topic} has no partition {partition}: it has {count}")
        if error.code() == library._MSG_TIMED_OUT:
            return self._connection.no_answer(error.str())
        return CommandFailed(f"{topic}: {error.str()}")


def is_name(topic: str) -> bool:
    from ottla.metadata.topic_names import fault_of_name

    return fault_of_name(topic) is None


def no_name(topic: str) -> CommandFailed:
    return CommandFailed(f"{topic!r} is no name for a topic", NAME_RULE)


def say_if_new(connection: Connection, producer: Any, topic: str) -> None:
    """A topic that is made by writing to it may be a slip of the pen."""
    known = connection.metadata(producer).topics
    if topic not in known:
        question = "".join(f"; {each}" for each in hint(topic, known))
        what_comes = "the cluster makes it now, if it makes topics by itself"
        print(f"ottla produce: there is no topic {topic} yet{question}", file=sys.stderr)
        print(f"  {what_comes}", file=sys.stderr)


def show_result(arguments: argparse.Namespace, sent: Sending) -> None:
    if arguments.output == "none":
        return
    document = [
        {
            "topic": topic,
            "partition": partition,
            "records": count,
            "first_offset": first,
            "last_offset": last,
        }
        for (topic, partition), (count, first, last) in sorted(sent.arrived.items())
    ]
    show(arguments.output, document, lambda: "\n".join(map(as_text, document)))


def as_text(row: dict[str, Any]) -> str:
    place = f"partition {row['partition']} of {row['topic']}"
    offsets = f"offset {row['first_offset']}"
    if row["first_offset"] < 0:
        offsets = "an offset that nobody told"  # acks=0
    elif row["records"] > 1:
        offsets = f"offsets {row['first_offset']} to {row['last_offset']}"
    return f"{counted(row['records'], 'record')} to {place}, {offsets}"
