"""`ottla groups reset`: set the offsets from which a group goes on."""

from __future__ import annotations

import argparse
import time
from typing import Any

from ottla.cli.connection import Connection, add_connection_arguments, confluent_kafka
from ottla.cli.groups.known import (
    IDLE_STATES,
    committed_offsets,
    described_groups,
    known_groups,
    state_name,
)
from ottla.cli.offset_ranges import At, BadRange, Position, parse_position
from ottla.cli.offsets import Place, partition_ends, resolve, within
from ottla.cli.output import add_format_argument, show, table
from ottla.cli.problems import CommandFailed, hint
from ottla.cli.topics.known import known_topics, require_topics

EPILOG = """\
places (--to):
  start, end, 17   the first record, behind the last one, an offset
  +5, -5           five after the start, five before the end
  @T               the first record of a time: 2024-02-14, 2024-02-14T09:30:00Z, -48h

The group must have no members meanwhile: they would go on from where they are, and overwrite it.

examples:
  ottla groups reset billing --to start --dry-run
  ottla groups reset billing --to @-2h --topic orders --topic refunds:0,3
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("group", metavar="GROUP")
    where = parser.add_mutually_exclusive_group(required=True)
    where.add_argument("--to", metavar="PLACE", help="where to go on")
    where.add_argument("--shift-by", type=int, metavar="N", help="so many on, or back if negative")
    parser.add_argument(
        "--topic", action="append", default=[], metavar="TOPIC[:0,1]",
        help="only these partitions (all that the group has committed)",
    )  # fmt: skip
    parser.add_argument("--dry-run", action="store_true", help="only show what would be set")
    add_format_argument(parser)
    add_connection_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    position = parse_place(arguments.to)
    connection = Connection.of(arguments)
    admin = connection.admin()
    require_idle(connection, admin, arguments.group)
    committed = committed_offsets(connection, admin, arguments.group)
    places = chosen_places(connection, admin, arguments, committed)
    if position is None:
        targets = shifted(connection, admin, places, committed, arguments.shift_by)
    else:
        targets = resolve(connection, admin, places, position)
    if not arguments.dry_run:
        commit(connection, admin, arguments.group, targets)
    document = [
        {"topic": place[0], "partition": place[1], "before": committed.get(place), "after": offset}
        for place, offset in sorted(targets.items())
    ]
    show(
        arguments.format,
        document,
        lambda: table(
            ("TOPIC", "PARTITION", "BEFORE", "AFTER"), (list(row.values()) for row in document)
        ),
    )
    return 0


def parse_place(text: str | None) -> Position | None:
    if text is None:
        return None
    try:
        return parse_position(text, round(time.time() * 1000))
    except BadRange as error:
        raise CommandFailed(f"--to {error}", code=2) from error


def require_idle(connection: Connection, admin: Any, group: str) -> None:
    """A group that does not exist is idle: it gets its first offsets."""
    known = known_groups(connection, admin)
    if group not in known:
        return
    described = described_groups(connection, admin, [group])[group]
    state = state_name(described.state)
    if state in IDLE_STATES:
        return
    members = [f"{member.client_id} on {member.host}" for member in described.members]
    raise CommandFailed(
        f"group {group} is in use ({state}): its members would overwrite the offsets",
        f"stop them first: {', '.join(members) or 'they are just joining'}",
        f"a member that died is forgotten after its session timeout; "
        f"ottla groups describe {group} shows who is left",
    )


def chosen_places(
    connection: Connection,
    admin: Any,
    arguments: argparse.Namespace,
    committed: dict[Place, int],
) -> list[Place]:
    if not arguments.topic:
        if not committed:
            raise CommandFailed(
                f"group {arguments.group} has committed nothing yet",
                "say for which topics with --topic",
                *hint(arguments.group, set(known_groups(connection, admin)) - {arguments.group}),
            )
        return sorted(committed)
    known = known_topics(connection, admin)
    places = []
    for text in arguments.topic:
        topic, _, numbers = text.partition(":")
        require_topics([topic], known)
        every = sorted(known[topic].partitions)
        places += [(topic, number) for number in chosen_numbers(text, numbers, every)]
    return sorted(set(places))


def chosen_numbers(text: str, numbers: str, every: list[int]) -> list[int]:
    if not numbers:
        return every
    chosen = [int(each) if each.isdigit() else -1 for each in numbers.split(",")]
    if any(number not in every for number in chosen):
        raise CommandFailed(f"--topic {text}: partitions are 0 to {len(every) - 1}", code=2)
    return chosen


def shifted(
    connection: Connection,
    admin: Any,
    places: list[Place],
    committed: dict[Place, int],
    count: int,
) -> dict[Place, int]:
    missing = [f"{topic}:{number}" for topic, number in places if (topic, number) not in committed]
    if missing:
        raise CommandFailed(
            f"nothing is committed for {', '.join(missing)}, so there is nothing to shift",
            "give a place with --to",
        )
    starts, ends = partition_ends(connection, admin, places)
    return {
        place: within(At(max(0, committed[place] + count)), starts[place], ends[place], -1)
        for place in places
    }


def commit(connection: Connection, admin: Any, group: str, targets: dict[Place, int]) -> None:
    library = confluent_kafka()
    futures = admin.alter_consumer_group_offsets(
        [
            library.ConsumerGroupTopicPartitions(
                group,
                [library.TopicPartition(*place, offset) for place, offset in targets.items()],
            )
        ],
        request_timeout=connection.timeout_s,
    )
    answer = connection.wait(futures[group])
    failed = [each for each in answer.topic_partitions if each.error is not None]
    if failed:
        raise CommandFailed(
            "\n".join(f"{each.topic}:{each.partition}: {each.error.str()}" for each in failed)
        )
