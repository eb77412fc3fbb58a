"""`ottla audit drill`: from a bucket to the offsets that are missing, doubled or changed."""

from __future__ import annotations

import argparse
import time
from typing import Any

from ottla.cli.auditing.cluster import add_audit_arguments, opened_cluster
from ottla.cli.auditing.places import declared_lakes, place_of
from ottla.cli.commands.audit.verify import time_of
from ottla.cli.errors import CommandFailed
from ottla.cli.output.documents import add_format_argument, show

SHOWN = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("topic", metavar="TOPIC")
    parser.add_argument(
        "bucket", metavar="BUCKET", nargs="?", help="a time in it; default: all that are at fault"
    )
    parser.add_argument("--tier", help="such as orders.counted; default: the only counted one")
    parser.add_argument(
        "--file", help="the file of pipelines: for the command, and for declared catalogs"
    )
    add_format_argument(parser)
    add_audit_arguments(parser)


def run(arguments: argparse.Namespace) -> int:
    from ottla.pipelines.audit.report_log import read_reports

    with opened_cluster(arguments) as cluster:
        tiers = read_reports(cluster, arguments.report_topic)
        tier = chosen_tier(tiers, arguments.topic, arguments.tier)
        verdicts = chosen_verdicts(tiers, tier.name, arguments)
        document = drilled(cluster, tiers, tier, verdicts, arguments)
    show(arguments.format, document, lambda: text_of(document))
    return 0


def chosen_verdicts(
    tiers: dict[str, Any], tier: str, arguments: argparse.Namespace
) -> dict[Any, Any]:
    """The buckets of the time that is given, or all that are at fault, with their verdicts."""
    from ottla.pipelines.audit.books import balance
    from ottla.pipelines.sums.record_sums import BUCKET_MS

    now_ms = time.time_ns() // 1_000_000
    at_ms = time_of(arguments.bucket, now_ms)
    verdicts = {
        key: verdict
        for book in balance(tiers, now_ms, arguments.reference)
        if (book.topic, book.tier) == (arguments.topic, tier)
        for key, verdict in book.verdicts.items()
        if (verdict.state.is_fault if at_ms is None else key.bucket == at_ms // BUCKET_MS)
    }
    if at_ms is not None and not verdicts:
        raise CommandFailed(f"no tier has records of {arguments.topic} at that time")
    return verdicts


def drilled(
    cluster: Any,
    tiers: dict[str, Any],
    tier: Any,
    verdicts: dict[Any, Any],
    arguments: argparse.Namespace,
) -> dict[str, Any]:
    """What is wrong with each of the buckets, and the repair."""
    from ottla.pipelines.audit.comparison import State
    from ottla.pipelines.audit.drilling import drill, missing_files
    from ottla.pipelines.audit.lake_tables import manifests
    from ottla.pipelines.audit.lake_tier import read_booked
    from ottla.pipelines.audit.repair_command import repair_command
    from ottla.pipelines.audit.reports import Tier
    from ottla.pipelines.audit.side_topics import read_excluded

    places = {} if arguments.file is None else declared_lakes(arguments.file)
    table = place_of(tier.source, places).open()
    base = tiers.get(arguments.reference) or Tier(arguments.reference)
    booked = read_booked(manifests(table))
    pipeline = booked.pipeline or "PIPELINE"
    ids = {name: topic_id for topic_id, name in booked.topics.items()}
    excluded = read_excluded(cluster, tier.side_topics, pipeline, ids)
    starts = {at: each.start for at, each in tier.coverage.items()}
    found = []
    for key, verdict in sorted(verdicts.items()):
        start = starts.get((key.topic_id, key.partition), 0)
        is_changed = verdict.state is State.CHANGED
        found.append(drill(cluster, base, table, key, excluded, start=start, is_changed=is_changed))
    states = [verdict for _, verdict in sorted(verdicts.items())]
    return {
        "topic": arguments.topic,
        "tier": tier.name,
        "partitions": [drill_document(*each) for each in zip(found, states, strict=True)],
        "missing_files": missing_files(table),
        "repair": repair_command(found, pipeline, arguments.file or "FILE"),
    }


def chosen_tier(tiers: dict[str, Any], topic: str, name: str | None) -> Any:
    counted = {
        each.name: each
        for each in tiers.values()
        if each.kind == "counted" and topic in each.topics().values()
    }
    if name is not None and name in counted:
        return counted[name]
    if name is None and len(counted) == 1:
        return next(iter(counted.values()))
    if not counted:
        raise CommandFailed(
            f"no table with records of {topic} was counted",
            "count one with: ottla audit run --once --lake NAME=DIRECTORY",
        )
    raise CommandFailed(f"choose a tier with --tier: {', '.join(sorted(counted))}")


def drill_document(found: Any, verdict: Any) -> dict[str, Any]:
    from ottla.cli.auditing.documents import bucket_text

    return {
        "bucket": bucket_text(found.key),
        "partition": found.key.partition,
        "state": verdict.state.value,
        "in_log": found.in_log,
        "in_table": found.in_table,
        "missing": [[start, end - 1] for start, end in found.missing],
        "doubled": [[start, end - 1] for start, end in found.doubled],
        "unknown": [[start, end - 1] for start, end in found.unknown],
        "changed": list(found.changed),
        "changed_files": list(found.changed_files),
        "suspect": [[start, end - 1] for start, end in found.suspect],
        "log_begins_at": found.deleted_before,
    }


def text_of(document: dict[str, Any]) -> str:
    lines = []
    for each in document["partitions"]:
        lines.append(
            f"{document['topic']}, partition {each['partition']}, bucket {each['bucket']}: "
            f"{each['state']}, {each['in_log']} in the log, {each['in_table']} in the table"
        )
        lines += [
            f"  {name}: {ranges_text(each[name])}"
            for name in ("missing", "doubled", "unknown")
            if each[name]
        ]
        if each["changed"]:
            lines.append(f"  changed: {', '.join(map(str, each['changed'][:SHOWN]))}")
        lines += [f"  rows were changed in {path}" for path in each["changed_files"]]
        if each["suspect"]:
            lines.append(f"  changed, some of these: {ranges_text(each['suspect'])}")
        if each["log_begins_at"] is not None:
            lines.append(f"  the log begins at {each['log_begins_at']}: older offsets are unknown")
    lines += [f"missing file: {path}" for path in document["missing_files"]]
    if not lines:
        lines.append("no bucket is at fault")
    if document["repair"]:
        lines.append(f"repair with: {document['repair']}")
    return "\n".join(lines)


def ranges_text(ranges: list[list[int]]) -> str:
    shown = [str(a) if a == b else f"{a} to {b}" for a, b in ranges[:SHOWN]]
    more = len(ranges) - len(shown)
    count = sum(b - a + 1 for a, b in ranges)
    return f"{count} offsets: " + ", ".join(shown) + (f" and {more} more ranges" if more else "")
