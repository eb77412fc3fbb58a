"""What Spark carries from the driver to the tasks: the ranges of each task, and the common part.

The leaders of the partitions are sent along, so that a task can fetch without reading metadata
first. A leader that has changed since then answers with an error, and the task looks it up. Tasks
with a rack may be sent to any broker: they get the addresses of all.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field

from pyspark.sql.datasource import InputPartition
from pyspark.sql.types import StructType

from ottla.base.ids import TopicPartition
from ottla.client.cluster.topology import Leader, Topology
from ottla.client.settings import ClientSettings
from ottla.config.addresses import Address
from ottla.spark.data_loss import LossPolicy
from ottla.spark.planning.pushed_filters import Bounds
from ottla.spark.planning.range_splitting import TaskRange


@dataclass(frozen=True)
class KnownLeaders:
    leaders: Mapping[TopicPartition, Leader] = field(default_factory=dict)
    brokers: Mapping[int, Address] = field(default_factory=dict)

    @classmethod
    def of(
        cls, topology: Topology, ranges: Iterable[TaskRange], *, with_all_brokers: bool = False
    ) -> KnownLeaders:
        """Only with topic ids: otherwise the leader epochs of an earlier topic of this name would
        be taken for those of the new one."""
        found = {
            each.partition: leader
            for each in ranges
            if each.topic_id
            and (leader := topology.leaders.get(each.partition)) is not None
            and leader.broker_id in topology.brokers
        }
        brokers = {leader.broker_id for leader in found.values()}
        if found and with_all_brokers:
            brokers.update(topology.brokers)
        return cls(found, {each: topology.brokers[each] for each in sorted(brokers)})

    def apply_to(self, topology: Topology) -> None:
        topology.brokers |= self.brokers
        topology.leaders |= self.leaders


class TaskRanges(InputPartition):  # type: ignore[misc]
    """What one task reads: a range, or several small ones of different partitions."""

    def __init__(self, ranges: Sequence[TaskRange], leaders: KnownLeaders | None = None) -> None:
        self.ranges = tuple(ranges)
        self.leaders = leaders or KnownLeaders()
        super().__init__(self.ranges)


@dataclass(frozen=True)
class ReadPlan:
    """The part of a query that is the same for all its tasks."""

    settings: ClientSettings
    schema: StructType
    with_headers: bool
    loss_policy: LossPolicy
    batch_bytes_max: int
    bounds: Bounds
    value_format: str | None = None
    value_schema: str | None = None
    files_to: str | None = None
