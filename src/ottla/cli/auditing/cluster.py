"""How commands of the audit connect: with our own client, which reads record batches."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from ottla.cli.cluster.connection import ClusterConnection, add_connection_arguments
from ottla.cli.cluster.names import matches_any
from ottla.cli.errors import USAGE, CommandFailed, suggestions


def add_audit_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument(
        "--report-topic",
        metavar="TOPIC",
        default="ottla-audit",
        help="the topic with the reports (default: ottla-audit)",
    )
    parser.add_argument(
        "--reference",
        metavar="TIER",
        default="broker",
        help="the tier that others are compared with (default: broker)",
    )
    add_connection_arguments(parser)


@contextmanager
def opened_cluster(arguments: argparse.Namespace) -> Iterator[Any]:
    """A client of the cluster; failures become messages."""
    from ottla.cli.arguments.name_values import parse_name_values
    from ottla.client.cluster.cluster import Cluster
    from ottla.client.errors import ClientError, InvalidSetting
    from ottla.client.settings import ClientSettings
    from ottla.pipelines.audit.report_log import AuditError
    from ottla.pipelines.errors import PipelineError

    connection = ClusterConnection.of(arguments)  # says why a broker cannot be reached
    properties = parse_name_values("-X", arguments.client_settings)
    try:
        settings = ClientSettings.from_properties(
            {"client.id": "ottla-audit", **properties, "bootstrap.servers": connection.servers}
        )
    except InvalidSetting as error:
        raise CommandFailed(f"-X: {error}", code=USAGE) from error
    try:
        with Cluster(settings) as cluster:
            yield cluster
    except (ClientError, AuditError, PipelineError) as error:
        raise CommandFailed(str(error)) from error


def read_books(arguments: argparse.Namespace, now_ms: int) -> tuple[list[Any], dict[str, Any]]:
    """The books of all topics and tiers, and the tiers; CommandFailed if there are no reports."""
    from ottla.pipelines.audit.books import balance
    from ottla.pipelines.audit.report_log import read_reports

    with opened_cluster(arguments) as cluster:
        tiers = read_reports(cluster, arguments.report_topic)
    if not tiers:
        raise CommandFailed(
            f"there are no reports in the topic {arguments.report_topic}: nothing was audited",
            "run the audit with: ottla audit run --once",
        )
    return balance(tiers, now_ms, arguments.reference), tiers


def add_tier_argument(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--tier", help="only this tier, such as orders.counted; or a pattern")


def chosen_books(arguments: argparse.Namespace, now_ms: int) -> list[Any]:
    """The books of the topics and the tier that are named; CommandFailed if there are none."""
    books, _ = read_books(arguments, now_ms)
    tiers = [arguments.tier] if arguments.tier else []
    chosen = [
        each
        for each in books
        if matches_any(each.topic, arguments.patterns) and matches_any(each.tier, tiers)
    ]
    if not chosen:
        raise nothing_chosen(books, arguments.patterns, arguments.tier)
    return chosen


def nothing_chosen(books: Sequence[Any], topics: Sequence[str], tier: str | None) -> CommandFailed:
    """No book is of these topics and this tier: which of them is unknown, and what there is."""
    known = {each.topic for each in books}
    for name in topics:
        if not matches_any_of(known, name):
            return CommandFailed(
                f"no tier has reported the topic {name}: nothing was audited",
                *suggestions(name, known),
            )
    tiers = {each.tier for each in books if matches_any(each.topic, topics)}
    advice = suggestions(tier or "", tiers) or [f"there is {', '.join(sorted(tiers))}"]
    return CommandFailed(f"there is no tier {tier}", *advice)


def matches_any_of(names: Iterable[str], pattern: str) -> bool:
    return any(matches_any(each, [pattern]) for each in names)


def tiers_text(books: Sequence[Any]) -> str:
    topics, tiers = len({each.topic for each in books}), len(books)
    text = f"{tiers} tier{'s'[: tiers != 1]}"
    return text if topics == 1 else f"{text} of {topics} topics"


def lakes_of(values: list[str]) -> dict[str, str]:
    """NAME=DIRECTORY of each option."""
    found = {}
    for value in values:
        name, equals, directory = value.partition("=")
        if not equals or not name or not directory:
            raise CommandFailed(
                f"--lake {value}: write NAME=DIRECTORY, such as orders=./lake/orders", code=USAGE
            )
        found[name] = directory
    return found


def number_between(low: float, high: float) -> Callable[[str], float]:
    def parse(text: str) -> float:
        try:
            number = float(text.removesuffix("%"))
        except ValueError:
            number = float("nan")
        if not low <= number <= high:
            raise argparse.ArgumentTypeError(f"{text!r} is not between {low:g} and {high:g}")
        return number

    return parse


def duration_ms(text: str) -> int:
    from ottla.config.durations import parse_duration

    found = parse_duration(text)
    if found is None or found <= 0:
        raise argparse.ArgumentTypeError(f"{text!r} is not a duration such as 15m or 2h")
    return found
