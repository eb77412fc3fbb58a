"""A whole pass of the audit: the logs first, then the tables, all reported to one topic.

Owns      which topics are audited, which tiers there are, and what is written about them.
Promises  tables are counted after the logs, and only as far as the logs were: a pipeline that runs
          meanwhile is never mistaken for a fault. A table that cannot be read does not keep others
          from being counted; that it could not is reported with it. So is one that is gone.
Leaves    the steps of a fold to `running.py`.
"""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from fnmatch import fnmatchcase
from functools import partial

from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import ClientError
from ottla.pipelines.audit.books import REFERENCE, TopicBook, balance
from ottla.pipelines.audit.lake_tables import LakeReader
from ottla.pipelines.audit.lake_tier import Booked, lake_tiers
from ottla.pipelines.audit.report_format import (
    bucket_key_bytes,
    bucket_record,
    coverage_key_bytes,
    coverage_record,
    tier_record,
)
from ottla.pipelines.audit.report_log import (
    TOPIC,
    AuditError,
    Entry,
    ReportWriter,
    make_topic_ready,
)
from ottla.pipelines.audit.reports import BROKER, COUNTED, PartitionId, Tier, keeping_times
from ottla.pipelines.audit.running import (
    STEP_OFFSETS,
    Engine,
    PassResult,
    audit_logs,
    opened_tier,
)
from ottla.pipelines.audit.side_topics import Excluded, read_excluded
from ottla.pipelines.errors import reason_of

OTTLA_TOPICS = "ottla-*"  # of pipelines and of the audit itself


@dataclass
class Audit:
    """The topics and tables of one audit."""

    cluster: Cluster
    engine: Engine
    topics: Sequence[str] = ()  # patterns; none: all but internal ones
    lakes: Mapping[str, LakeReader] = field(default_factory=dict)
    side_topics: Mapping[str, Sequence[str]] = field(default_factory=dict)  # by lake
    report_topic: str = TOPIC
    reference: str = REFERENCE
    step_offsets: int = STEP_OFFSETS
    result: PassResult = field(default_factory=PassResult)
    unreadable: Mapping[str, str] = field(default_factory=dict)  # why tables cannot be opened
    failures: list[str] = field(default_factory=list)  # tables that the last pass could not count

    def open(self) -> ReportWriter:
        """From now on this is the one audit that writes to the topic."""
        make_topic_ready(self.cluster, self.report_topic)
        return ReportWriter(self.cluster, "run", self.report_topic)

    def run_pass(self, writer: ReportWriter) -> list[TopicBook]:
        """The books after it."""
        tiers = writer.read()
        source = self.cluster.settings.bootstrap_servers
        base = opened_tier(tiers, self.reference, BROKER, source)
        self.result = audit_logs(
            self.cluster,
            writer,
            base,
            chosen_topics(self.cluster, self.topics),
            self.engine,
            step_offsets=self.step_offsets,
        )
        tiers[base.name] = base
        self.failures = []
        for name, table in self.lakes.items():
            for tier in self._count(name, table, tiers):
                writer.write(replacing(tiers.get(tier.name) or Tier(tier.name), tier))
                tiers[tier.name] = tier
        self._note_unreadable(writer, tiers)
        books = balance(tiers, _now_ms(), self.reference)
        for name, table in self.lakes.items():
            note_complete_until(table, [each for each in books if each.tier == f"{name}.counted"])
        return books

    def _note_unreadable(self, writer: ReportWriter, tiers: dict[str, Tier]) -> None:
        """A table that was counted before, and is gone, is not as complete as it was."""
        for name, reason in self.unreadable.items():
            known = tiers.get(f"{name}.counted")
            if known is not None:
                self.failures.append(f"{name} could not be counted: {reason}")
                tiers[known.name] = replace(known, failure=reason)
                writer.write(replacing(known, tiers[known.name]))

    def _count(self, name: str, table: LakeReader, tiers: Mapping[str, Tier]) -> list[Tier]:
        """The tiers of the table as they are now; as they were, and why, if it cannot be read."""
        sides = list(self.side_topics.get(name, ()))
        aside = partial(self._aside, sides)
        try:
            found = lake_tiers(name, table, tiers[self.reference], _now_ms(), aside)
            _check_kept(table, found, tiers)
        except ClientError:
            raise  # the cluster, not the table
        except Exception as error:
            counted = f"{name}.counted"
            known = tiers.get(counted) or Tier(counted, COUNTED, str(table.directory.absolute()))
            failure = reason_of(error)
            self.failures.append(f"{name} could not be counted: {failure}")
            return [replace(known, failure=failure)]
        for tier in found:
            tier.side_topics = sides
            before = tiers.get(tier.name) or Tier(tier.name)
            tier.buckets = keeping_times(before.buckets, tier.buckets, _now_ms())
        return found

    def _aside(self, topics: Sequence[str], booked: Booked) -> Excluded:
        ids = {name: topic_id for topic_id, name in booked.topics.items()}
        return read_excluded(self.cluster, topics, booked.pipeline, ids) if topics else {}


def _check_kept(table: LakeReader, found: Sequence[Tier], tiers: Mapping[str, Tier]) -> None:
    """AuditError if the table has nothing of what it had when it was counted last. Without rows
    and commits it says of no record that it is missing."""
    counted = found[-1]
    if counted.coverage or not (before := tiers.get(counted.name)):
        return
    if before.coverage:
        raise AuditError(
            f"{table.directory} has neither rows nor commits, and the table had them before: its "
            "directory was emptied, replaced, or is not mounted"
        )


def _now_ms() -> int:
    return time.time_ns() // 1_000_000


def chosen_topics(cluster: Cluster, patterns: Sequence[str]) -> list[str]:
    names = cluster.list_topics()
    if patterns:
        return [name for name in names if any(fnmatchcase(name, each) for each in patterns)]
    described = cluster.describe_topics(names)
    return [
        name
        for name, topic in described.items()
        if not topic.is_internal and not fnmatchcase(name, OTTLA_TOPICS)
    ]


def replacing(known: Tier, after: Tier) -> list[Entry]:
    """The records that change the reported tier to the present one."""
    entries: list[Entry] = [tier_record(after)]
    obsolete = sorted(known.buckets.keys() - after.buckets.keys())
    entries += [(bucket_key_bytes(after.name, key), None) for key in obsolete]
    left = sorted(known.coverage.keys() - after.coverage.keys())
    entries += [(coverage_key_bytes(after.name, partition_id), None) for partition_id in left]
    for key, report in sorted(after.buckets.items()):
        if known.buckets.get(key) != report:
            covered = after.coverage.get(PartitionId(key.topic_id, key.partition))
            covers = 0 if covered is None else covered.covers
            entries.append(bucket_record(after.name, key, report, covers))
    entries += [coverage_record(after.name, *each) for each in sorted(after.coverage.items())]
    return entries


def note_complete_until(table: LakeReader, books: Sequence[TopicBook]) -> None:
    """Write to the table itself until when it is complete, for its readers; withdraw it if that is
    known of no time any more."""
    ends = [each.complete_until_ms for each in books]
    known = [end for end in ends if end is not None]
    if ends and len(known) == len(ends):
        begins = [each.complete_from_ms for each in books if each.complete_from_ms is not None]
        table.note_complete_until(min(known), max(begins, default=None))
    else:
        table.note_complete_until(None)
