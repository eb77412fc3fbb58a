"""One pass of the audit over a cluster: fold what is new in the logs, and report it.

Owns      the order: fence other audits, read what is reported, fold, report, in steps.
Promises  a pass that ends at any point has reported whole steps, and the next one continues after
          them: no record is counted twice, and none is skipped.
Leaves    the decisions to `fold_plan.py`; where ranges are folded to the engine it is given.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from ottla.base.ids import TopicPartition
from ottla.base.uuids import uuid_to_text
from ottla.client.admin.list_offsets import earliest_offsets, latest_offsets
from ottla.client.admin.topics import topic_configs
from ottla.client.cluster.cluster import Cluster
from ottla.client.settings import READ_COMMITTED, READ_UNCOMMITTED
from ottla.pipelines.audit.fold_plan import (
    FoldedRange,
    FoldRange,
    FoldStep,
    LogPosition,
    decide_step,
    next_ranges,
    split_ranges,
)
from ottla.pipelines.audit.log_fold import fold_range
from ottla.pipelines.audit.report_format import bucket_record, coverage_record, tier_record
from ottla.pipelines.audit.report_log import POLICY, Entry, ReportWriter
from ottla.pipelines.audit.reports import BROKER, PartitionId, Tier

log = logging.getLogger("ottla.pipelines.audit")

STEP_OFFSETS = 20_000_000  # what a kill can make the next run fold again
TASK_OFFSETS = 2_000_000

# Folds ranges, wherever that is: here, or in the tasks of a Spark job.
Engine = Callable[[Sequence[FoldRange]], Iterable[FoldedRange]]


@dataclass
class PassResult:
    """The result of one pass, for messages."""

    steps: int = 0
    records: int = 0
    aborted: int = 0
    overtaken: int = 0  # offsets that retention deleted before they were counted


class LocalEngine:
    """Folds in this process, one range after the other."""

    def __init__(self, cluster: Cluster) -> None:
        self._cluster = cluster

    def __call__(self, ranges: Sequence[FoldRange]) -> Iterable[FoldedRange]:
        return [fold_range(self._cluster, each) for each in ranges]


def audit_logs(
    cluster: Cluster,
    writer: ReportWriter,
    tier: Tier,
    topics: Sequence[str],
    engine: Engine,
    *,
    step_offsets: int = STEP_OFFSETS,
) -> PassResult:
    """Fold the topics up to their last stable offsets as they are now. `tier` is what the writer
    has read, and is kept up to date."""
    result = PassResult()
    now_ms = time.time_ns() // 1_000_000  # before the ends are looked up
    positions = log_positions(cluster, topics)
    while True:
        ranges = next_ranges(tier, positions, step_offsets)
        folded = list(engine(split_ranges(ranges, TASK_OFFSETS)))
        step = decide_step(tier, positions, folded, now_ms)
        writer.write(entries_of(tier, step))
        _note(result, tier, step, folded)
        tier.coverage.update(step.coverage)
        tier.buckets.update(step.buckets)
        if all(tier.coverage[at].covers >= each.stable_end for at, each in positions.items()):
            return result


def log_positions(cluster: Cluster, topics: Sequence[str]) -> dict[PartitionId, LogPosition]:
    described = cluster.describe_topics(list(topics))
    partition_ids = {
        TopicPartition(name, each.partition): PartitionId(
            uuid_to_text(topic.topic_id), each.partition
        )
        for name, topic in described.items()
        for each in topic.partitions
    }
    starts = earliest_offsets(cluster, partition_ids)
    # Before the last stable offsets: what is written in between is not an open transaction.
    high_watermarks = latest_offsets(cluster, partition_ids, READ_UNCOMMITTED)
    ends = latest_offsets(cluster, partition_ids, READ_COMMITTED)
    configs = topic_configs(cluster, described)
    compacted = {name for name in described if "compact" in (configs[name].get(POLICY) or "")}
    return {
        partition_id: LogPosition(
            at.topic, starts[at], ends[at], at.topic in compacted, high_watermarks[at]
        )
        for at, partition_id in partition_ids.items()
    }


def entries_of(tier: Tier, step: FoldStep) -> list[Entry]:
    """All records of one step. They become visible together."""
    entries: list[Entry] = [tier_record(tier)]
    for key, report in sorted(step.buckets.items()):
        covers = step.coverage[PartitionId(key.topic_id, key.partition)].covers
        entries.append(bucket_record(tier.name, key, report, covers))
    entries += [coverage_record(tier.name, *each) for each in sorted(step.coverage.items())]
    return entries


def _note(result: PassResult, tier: Tier, step: FoldStep, folded: Sequence[FoldedRange]) -> None:
    result.steps += 1
    for each in folded:
        result.records += sum(sums.count for sums in each.committed.values())
        result.aborted += sum(sums.count for sums in each.aborted.values())
    for partition_id, coverage in step.coverage.items():
        known = tier.coverage.get(partition_id)
        before = () if known is None else known.gaps
        new = sum(end - start for start, end in coverage.gaps) - sum(b - a for a, b in before)
        if new:
            log.warning(
                "%s, partition %d: retention deleted %d offsets before they were audited",
                coverage.topic, partition_id.partition, new,
            )  # fmt: skip
        result.overtaken += new


def opened_tier(tiers: dict[str, Tier], name: str, kind: str = BROKER, source: str = "") -> Tier:
    """The tier as it was reported before, or a new one."""
    tier = tiers.get(name) or Tier(name)
    tier.kind, tier.source = kind, source
    return tier
