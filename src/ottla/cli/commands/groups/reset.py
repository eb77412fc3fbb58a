"""`ottla groups reset`: set the committed offsets of a group."""

from __future__ import annotations

import argparse
import sys
import time
from pathlib import Path
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.cli.arguments.numbers import INT64_MAX, whole_number
from ottla.cli.arguments.offset_files import BadOffsets, Offsets, parse_offsets
from ottla.cli.arguments.offset_ranges import At, BadRange, Position, parse_position
from ottla.cli.arguments.texts import Once, path_name
from ottla.cli.cluster.connection import (
    ClusterConnection,
    add_connection_arguments,
    confluent_kafka,
)
from ottla.cli.cluster.coordinators import wait_for_coordinator
from ottla.cli.cluster.groups import (
    IDLE_STATES,
    add_groups_argument,
    all_groups,
    committed_offsets,
    described_groups,
    given_groups,
    state_name,
)
from ottla.cli.cluster.partition_offsets import partition_ends, require_offset, resolve
from ottla.cli.cluster.topics import all_topics, is_pattern, refuse_patterns, require_topics
from ottla.cli.errors import USAGE, CommandFailed, suggestions
from ottla.cli.output.documents import add_format_argument, show
from ottla.cli.output.tables import Column, table
from ottla.cli.process import output_after

EPILOG = """\
positions (--to):
  start, end, 17   the first record, after the last record, an offset
  +5, -5           five after the start, five before the end
  @T               the first record of a time: 2024-02-14, 2024-02-14T09:30:00Z, -48h

The group must have no members: they would overwrite the offsets with their own.

examples:
  ottla groups reset billing --to start --dry-run
  ottla groups reset billing --to @-2h --topic orders --topic refunds:0,3
  ottla groups describe billing --format json > offsets.json
  ottla groups reset billing --from-file offsets.json
"""
COLUMNS = (
    Column("TOPIC", "topic"),
    Column("PARTITION", "partition"),
    Column("BEFORE", "before"),
    Column("AFTER", "after"),
)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_groups_argument(parser)
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--to", metavar="POSITION", action=Once, help="where the group continues")
    where.add_argument(
        "--shift-by",
        action=Once,
        type=whole_number(-INT64_MAX, INT64_MAX),
        metavar="N",
        help="add N to each offset; N may be negative",
    )
    where.add_argument(
        "--from-file", metavar="FILE", type=path_name,
        help="as `groups describe --format json` prints them, or lines of topic,partition,offset",
    )  # fmt: skip
    parser.add_argument(
        "--topic", action="append", default=[], metavar="TOPIC[:0,1]",
        help="only these partitions (default: all for which the group has committed)",
    )  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="show the result, change nothing")
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    position = parse_to(arguments.to)
    group = the_group(arguments)
    given = None if arguments.from_file is None else given_offsets(arguments, group)
    connection = ClusterConnection.of(arguments)
    admin = connection.admin()
    require_idle(connection, admin, group)
    committed = committed_offsets(connection, admin, group)
    if given is not None:
        require_existing(connection, admin, arguments.from_file, given)
        partitions = sorted(given)
    else:
        partitions = chosen_partitions(connection, admin, group, arguments.topic, committed)
    if given is not None:
        targets = existing_positions(connection, admin, given)
    elif position is None:
        targets = shifted(connection, admin, partitions, committed, arguments.shift_by)
    else:
        targets = positions(connection, admin, partitions, position)
    if not arguments.dry_run:
        commit(connection, admin, group, targets)
    document = [
        {
            "topic": partition.topic,
            "partition": partition.partition,
            "before": committed.get(partition),
            "after": offset,
        }
        for partition, offset in sorted(targets.items())
    ]
    with output_after("nothing was changed" if arguments.dry_run else "the offsets were set"):
        show(arguments.format, document, lambda: table(COLUMNS, document))
    return 0


def the_group(arguments: argparse.Namespace) -> str:
    group, *others = given_groups(arguments)
    if others:
        raise CommandFailed(
            f"one group is reset at a time, and there are several: {group}, {', '.join(others)}",
            code=USAGE,
        )
    return group


def parse_to(text: str | None) -> Position | None:
    if text is None:
        return None
    try:
        return parse_position(text, round(time.time() * 1000))
    except BadRange as error:
        raise CommandFailed(f"--to {error}", code=USAGE) from error


def require_idle(connection: ClusterConnection, admin: Any, group: str) -> None:
    """A group that does not exist is idle: it gets its first offsets."""
    if group not in all_groups(connection, admin):
        if is_pattern(group):
            raise CommandFailed(
                f"there is no group {group}, and patterns are not accepted here",
                f"see: ottla groups list '{group}'",
                code=USAGE,
            )
        return
    described = described_groups(connection, admin, [group])[group]
    state = state_name(described.state)
    if state in IDLE_STATES:
        return
    members = [f"{member.client_id} on {member.host}" for member in described.members]
    raise CommandFailed(
        f"group {group} is in use ({state}): its members would overwrite the offsets",
        f"stop them first: {', '.join(members) or 'they are joining'}",
        f"a member that crashed is removed after its session timeout; "
        f"see: ottla groups describe {group}",
    )


def chosen_partitions(
    connection: ClusterConnection, admin: Any, group: str, given: list[str], committed: Offsets
) -> list[TopicPartition]:
    if not given:
        if not committed:
            groups = all_groups(connection, admin)
            raise CommandFailed(
                f"group {group} has committed nothing yet"
                if group in groups
                else f"there is no group {group}",
                "name the topics with --topic, for which it gets its first offsets",
                *([] if group in groups else suggestions(group, groups)),
            )
        return sorted(committed)
    topics = all_topics(connection, admin)
    chosen = set()
    for text in given:
        topic, colon, numbers = text.partition(":")
        refuse_patterns([topic])
        wanted = partition_numbers(text, numbers) if colon else None
        require_topics([topic], topics)
        existing = sorted(topics[topic].partitions)
        require_partitions(text, wanted or [], existing)
        chosen |= {TopicPartition(topic, number) for number in wanted or existing}
    return sorted(chosen)


def partition_numbers(text: str, numbers: str) -> list[int]:
    each = [part.strip() for part in numbers.split(",")]
    if not all(part.isascii() and part.isdigit() for part in each):
        raise CommandFailed(
            f"--topic {text}: expected TOPIC or TOPIC:0,1 with numbers of partitions", code=USAGE
        )
    return [int(part) for part in each]


def require_partitions(text: str, chosen: list[int], existing: list[int]) -> None:
    if any(number not in existing for number in chosen):
        raise CommandFailed(f"--topic {text}: partitions are 0 to {len(existing) - 1}", code=USAGE)


def shifted(
    connection: ClusterConnection,
    admin: Any,
    partitions: list[TopicPartition],
    committed: Offsets,
    count: int,
) -> Offsets:
    missing = [f"{each.topic}:{each.partition}" for each in partitions if each not in committed]
    if missing:
        raise CommandFailed(
            f"--shift-by needs committed offsets, and {', '.join(missing)} has none",
            "give a position with --to",
        )
    return existing_positions(
        connection, admin, {each: committed[each] + count for each in partitions}
    )


def existing_positions(connection: ClusterConnection, admin: Any, wanted: Offsets) -> Offsets:
    starts, ends = partition_ends(connection, admin, wanted)
    return {
        each: limited(each, offset, starts[each], ends[each]) for each, offset in wanted.items()
    }


def given_offsets(arguments: argparse.Namespace, group: str) -> Offsets:
    name = f"--from-file {arguments.from_file}"
    if arguments.topic:
        raise CommandFailed(f"{name} has the partitions: --topic cannot be used", code=USAGE)
    try:
        return parse_offsets(Path(arguments.from_file).read_text("utf-8-sig"), group)
    except OSError as error:
        raise CommandFailed(f"{name}: {error.strerror}", code=USAGE) from error
    except UnicodeDecodeError as error:
        raise CommandFailed(f"{name}: not a text file", code=USAGE) from error
    except BadOffsets as error:
        raise CommandFailed(f"{name}: {error}", code=USAGE) from error


def require_existing(connection: ClusterConnection, admin: Any, file: str, given: Offsets) -> None:
    topics = all_topics(connection, admin)
    require_topics(sorted({each.topic for each in given}), topics)
    for topic, number in given:
        if number not in topics[topic].partitions:
            raise CommandFailed(
                f"--from-file {file}: {topic} has no partition {number}: "
                f"it has {len(topics[topic].partitions)}"
            )


def positions(
    connection: ClusterConnection, admin: Any, partitions: list[TopicPartition], position: Position
) -> Offsets:
    if not isinstance(position, At):
        return resolve(connection, admin, partitions, position)
    starts, ends = partition_ends(connection, admin, partitions)
    require_offset(position.value, {each: (starts[each], ends[each]) for each in partitions})
    return {each: limited(each, position.value, starts[each], ends[each]) for each in partitions}


def limited(partition: TopicPartition, offset: int, start: int, end: int) -> int:
    """The nearest offset that the partition has; the difference is reported."""
    nearest = max(start, min(offset, end))
    if nearest != offset:
        content = f"has the offsets {start} to {end - 1}" if end > start else "is empty"
        print(
            f"ottla groups reset: partition {partition.partition} of {partition.topic} {content}: "
            f"set to {nearest} instead of {offset}",
            file=sys.stderr,
        )
    return nearest


def commit(connection: ClusterConnection, admin: Any, group: str, targets: Offsets) -> None:
    library = confluent_kafka()
    partitions = [library.TopicPartition(*each, offset) for each, offset in targets.items()]
    futures = admin.alter_consumer_group_offsets(
        [library.ConsumerGroupTopicPartitions(group, partitions)],
        request_timeout=connection.timeout_s,
    )
    result = wait_for_coordinator(connection, group, futures[group])
    failed = [each for each in result.topic_partitions if each.error is not None]
    if failed:
        raise CommandFailed(
            "\n".join(f"{each.topic}:{each.partition}: {each.error.str()}" for each in failed)
        )
