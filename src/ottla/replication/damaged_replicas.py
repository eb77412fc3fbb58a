"""Replicas with damaged records: they leave the in-sync replicas, and are fetched again.

Owns      which replicas of this broker are damaged, and from which offset on.
Promises  a damaged replica is truncated only when the metadata shows that another broker leads, and
          that no election can choose this replica. Until then its undamaged records are served. A
          truncation that fails is tried again, then of the whole log.
Leaves    detecting damage to readers, the decision to the controller (`docs/decisions/0012`).
"""

from __future__ import annotations

import asyncio
import logging

from ottla.base.ids import TopicPartition
from ottla.base.scheduling.steps import Driver, Steps
from ottla.metadata.entities import PartitionRegistration
from ottla.metadata.records import LOST_DIRECTORY
from ottla.protocol.errors import BrokerError
from ottla.replication.directory_reports import DirectoryReports
from ottla.replication.partition import Partition
from ottla.replication.partition_table import PartitionFollower
from ottla.storage.errors import CorruptLogError, StorageError
from ottla.storage.files.file_names import parse_segment_file_name

log = logging.getLogger(__name__)

LOG_SUFFIX = ".log"
RETRY_S = 5.0


class DamagedReplicas:
    def __init__(
        self,
        broker_id: int,
        reports: DirectoryReports,
        followers: PartitionFollower,
        driver: Driver,
    ) -> None:
        self._broker_id = broker_id
        self._reports = reports
        self._followers = followers
        self._driver = driver
        self._damaged: dict[TopicPartition, int] = {}  # the first offset that is not sound
        self._repairing: set[TopicPartition] = set()

    def __contains__(self, name: TopicPartition) -> bool:
        return name in self._damaged

    def found(self, partition: Partition, error: CorruptLogError) -> None:
        """A read has failed. An index is built again by itself; records are not."""
        segment = parse_segment_file_name(error.path.rpartition("/")[2])
        if segment is None or segment.suffix != LOG_SUFFIX or partition.name in self._damaged:
            return
        in_sync = set(partition.leadership.in_sync_replicas) - {self._broker_id}
        if not in_sync:
            return  # there is no better replica: what can be read is served
        log.error(
            "%s: damaged from offset %d on: %s. It is copied again from another replica",
            partition.name,
            segment.offset,
            error,
        )
        self._note(partition, segment.offset)

    def _note(self, partition: Partition, offset: int) -> None:
        self._damaged[partition.name] = offset
        self._reports.report_lost(partition.name, partition.topic_id)

    def check(self, partition: Partition, decided: PartitionRegistration) -> None:
        """The metadata has a new state of the partition, which this broker has applied."""
        name, me = partition.name, self._broker_id
        is_lost = decided.directory_of(me) == LOST_DIRECTORY
        if is_lost and name not in self._damaged:  # found by a process that has ended
            self._note(partition, partition.log.log_start_offset)
        has_everything = (*decided.in_sync_replicas, *decided.eligible_replicas)
        is_led_elsewhere = decided.has_leader and decided.leader != me
        if name in self._damaged and is_lost and is_led_elsewhere and me not in has_everything:
            self._begin(partition)

    def _begin(self, partition: Partition) -> None:
        if partition.name not in self._repairing and not partition.is_truncating:
            self._repairing.add(partition.name)
            self._followers.removed(partition)  # nothing is appended meanwhile
            self._driver.start(self._repairing_steps(partition))

    def _repairing_steps(self, partition: Partition) -> Steps[None]:
        name = partition.name
        try:
            yield from partition.truncating(self._truncating(partition))
        except (StorageError, BrokerError) as error:
            log.error("%s: the damaged records cannot be removed: %s", name, error)
            self._try_later(partition)
            return
        finally:
            self._repairing.discard(name)
        if self._damaged.pop(name, None) is None:
            return  # it was removed from this broker meanwhile
        self._reports.report_found(partition)
        self._followers.leadership_changed(partition)

    def _truncating(self, partition: Partition) -> Steps[None]:
        offset, start = self._damaged[partition.name], partition.log.log_start_offset
        if offset > start:
            yield from partition.log.truncating_to(offset)
        else:
            partition.log.truncate_fully_and_start_at(start)

    def _try_later(self, partition: Partition) -> None:
        if partition.name in self._damaged:
            self._damaged[partition.name] = partition.log.log_start_offset
        asyncio.get_running_loop().call_later(RETRY_S, self._try_again, partition)

    def _try_again(self, partition: Partition) -> None:
        is_usable = partition.log.health.is_online and not partition.log.is_discarded
        if partition.name in self._damaged and is_usable and not partition.is_leader:
            self._begin(partition)

    def removed(self, name: TopicPartition) -> None:
        """The partition is not on this broker any more."""
        if self._damaged.pop(name, None) is not None:
            self._reports.forget(name)  # another topic may have its name later
