"""Consumer groups of a cluster: their states, members and committed offsets."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable
from fnmatch import fnmatchcase
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.cli.cluster.connection import ClusterConnection, confluent_kafka
from ottla.cli.cluster.coordinators import wait_for_coordinator
from ottla.cli.cluster.leaders import SEE_STATUS
from ottla.cli.cluster.names import require_known
from ottla.cli.errors import USAGE, CommandFailed


def group_name(text: str) -> str:
    """An argparse type. librdkafka aborts the process for an empty name."""
    if not text:
        raise argparse.ArgumentTypeError("the name of a group is not empty")
    return text


def add_groups_argument(parser: argparse.ArgumentParser, help_text: str | None = None) -> None:
    """GROUP..., or --group as in Kafka's own tools."""
    parser.add_argument(
        "groups", nargs="*", default=[], type=group_name, metavar="GROUP", help=help_text
    )
    parser.add_argument(
        "--group", action="append", default=[], type=group_name, dest="group_options",
        metavar="GROUP", help="the same as GROUP; may be repeated",
    )  # fmt: skip


def given_groups(arguments: argparse.Namespace) -> list[str]:
    """The names and patterns that were given, each once."""
    given = list(dict.fromkeys([*arguments.groups, *arguments.group_options]))
    if not given:
        raise CommandFailed("name a group", SEE_GROUPS, code=USAGE)
    return given


GROUP_OFFSETS = "__consumer_offsets"
SEE_GROUPS = "see: ottla groups list"
IDLE_STATES = ("Empty", "Dead", "Unknown")


def all_groups(connection: ClusterConnection, admin: Any) -> dict[str, Any]:
    """The groups of all brokers, by name. Says on standard error if some may be missing."""
    result = list_groups(connection, admin)
    report_missing_groups(connection, admin, result.errors)
    return {group.group_id: group for group in result.valid}


def list_groups(connection: ClusterConnection, admin: Any) -> Any:
    """Groups (`valid`), and `errors` of brokers that did not list theirs."""
    result = connection.wait(admin.list_consumer_groups(request_timeout=connection.timeout_s))
    if result.errors and not result.valid:
        raise connection.failure(result.errors[0])
    return result


def report_missing_groups(
    connection: ClusterConnection, admin: Any, errors: Iterable[Any] = ()
) -> None:
    """A broker lists the groups that it coordinates: others must not seem to be deleted."""
    reasons = sorted({error.str() for error in errors})
    offsets = connection.metadata(admin).topics.get(GROUP_OFFSETS)
    partitions = [] if offsets is None else list(offsets.partitions.values())
    count = sum(each.leader < 0 for each in partitions)
    if count:
        reasons.append(f"{count} of {len(partitions)} partitions of {GROUP_OFFSETS} have no leader")
    for reason in reasons:
        print(f"ottla: not all groups can be reached: {reason}; {SEE_STATUS}", file=sys.stderr)


def chosen_groups(given: Iterable[str], groups: dict[str, Any]) -> list[str]:
    """The names, and for patterns such as `billing*` the groups that match."""
    chosen: dict[str, None] = {}
    for name in given:
        matching = [each for each in sorted(groups) if fnmatchcase(each, name)]
        if name in groups or not matching:
            matching = [name]
        chosen |= dict.fromkeys(matching)
    require_groups(chosen, groups)
    return list(chosen)


def require_groups(names: Iterable[str], groups: dict[str, Any]) -> None:
    require_known("group", names, groups, SEE_GROUPS)


def described_groups(connection: ClusterConnection, admin: Any, names: list[str]) -> dict[str, Any]:
    futures = admin.describe_consumer_groups(names, request_timeout=connection.timeout_s)
    return {
        name: wait_for_coordinator(connection, name, future) for name, future in futures.items()
    }


def committed_offsets(
    connection: ClusterConnection, admin: Any, group: str
) -> dict[TopicPartition, int]:
    """Offsets that the group has committed; partitions without a commit are left out."""
    return committed_offsets_of(connection, admin, [group])[group]


def committed_offsets_of(
    connection: ClusterConnection, admin: Any, groups: list[str]
) -> dict[str, dict[TopicPartition, int]]:
    """The same for several groups, requested at the same time."""
    library = confluent_kafka()
    futures = {
        group: admin.list_consumer_group_offsets(
            [library.ConsumerGroupTopicPartitions(group)], request_timeout=connection.timeout_s
        )[group]
        for group in groups
    }
    return {
        group: committed_in(wait_for_coordinator(connection, group, future))
        for group, future in futures.items()
    }


def committed_in(result: Any) -> dict[TopicPartition, int]:
    return {
        TopicPartition(each.topic, each.partition): each.offset
        for each in result.topic_partitions
        if each.offset >= 0
    }


def partition_lag(committed: int | None, offsets: tuple[int, int] | None) -> int | None:
    """Records after the committed offset. Without one the lag is unknown (None), because the group
    may begin at either end; `offsets` are the start and the end of the partition, if it exists.
    """
    if offsets is None:
        return None
    start, end = offsets
    if committed is None:
        return 0 if start == end else None
    return max(0, end - committed)


def total_lag(lags: Iterable[int | None]) -> int | None:
    """None if there is no partition, or if the lag of one is unknown."""
    known = list(lags)
    return None if not known or None in known else sum(each or 0 for each in known)


def state_name(state: Any) -> str:
    """As Kafka writes it: PreparingRebalance."""
    return "".join(word.capitalize() for word in state.name.split("_"))
