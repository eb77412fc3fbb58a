"""The ends of the logs that a stream reads, and where logs lack what was read.

Promises  an end comes from a leader that is not older than the one before it. An end before what
          was read, and records that were read and that the leader does not have, are reported as
          data loss, never accepted silently. What is returned is of one leader epoch: a change of
          leaders between the requests is noticed, and all is looked up again.
Leaves    the order of a batch to `stream_reader.py`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

from ottla.base.ids import TopicPartition
from ottla.client.admin.leader_epochs import epoch_ends, replaced_from
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.retries import Retries
from ottla.client.fetching.read_position import KnownEnd
from ottla.spark.data_loss import LossPolicy
from ottla.spark.planning.stream_changes import moved_back, moved_back_text, truncated_text
from ottla.spark.source.position_lookup import Logs, Offsets

Known = Mapping[TopicPartition, KnownEnd]


@dataclass(frozen=True)
class FoundEnds:
    """`resumed_at` are the partitions whose logs lack what was read: a batch begins there."""

    ends: Offsets
    epochs: Mapping[TopicPartition, int]
    resumed_at: Offsets


class LogEnds:
    """`pauses` yields at once, and after each pause that the options allow."""

    def __init__(self, policy: LossPolicy, pauses: Callable[[], Iterator[None]]) -> None:
        self._policy = policy
        self._pauses = pauses
        self._checked: dict[TopicPartition, tuple[KnownEnd, int]] = {}

    def find(self, cluster: Cluster, starts: Offsets, known: Known) -> FoundEnds:
        """The ends of the partitions in `starts`; `known` is what was read of some of them."""
        for partition, each in known.items():
            cluster.topology.demand_epoch(partition, each.epoch)
        retries = Retries("looking up the ends of logs", cluster.settings)
        while True:
            logs = Logs(cluster)
            ends = logs.latest(list(starts))
            epochs = dict(logs.end_epochs)
            is_stable, resumed_at = self._truncations(cluster, epochs, known)
            begin = {**starts, **resumed_at}
            ends = self._not_before(logs, begin, ends)
            if is_stable and logs.end_epochs == epochs:
                break
            retries.pause("the leaders change")
        if resumed_at:
            self._policy.report(truncated_text(known, resumed_at))
        if back := moved_back(begin, ends):
            self._policy.report(moved_back_text(back, begin, ends))
        return FoundEnds(ends, {at: each for at, each in epochs.items() if each >= 0}, resumed_at)

    def _truncations(
        self, cluster: Cluster, epochs: Mapping[TopicPartition, int], known: Known
    ) -> tuple[bool, Offsets]:
        """Whether the leaders are still those of these epochs, and where they lack what is known.
        A leader is asked once."""
        due = {
            partition: each
            for partition, each in known.items()
            if epochs[partition] > each.epoch
            and self._checked.get(partition) != (each, epochs[partition])
        }
        found = epoch_ends(cluster, {partition: each.epoch for partition, each in due.items()})
        resumed_at = {}
        for partition, end in found.items():
            if (start := replaced_from(due[partition].offset, end)) is not None:
                resumed_at[partition] = start
            else:
                self._checked[partition] = (due[partition], end.current_epoch)
        return all(end.current_epoch == epochs[at] for at, end in found.items()), resumed_at

    def _not_before(self, logs: Logs, starts: Offsets, ends: Offsets) -> Offsets:
        """An end before its start is looked up again, as it may be caused by a change of leaders.
        If it stays, records were lost."""
        back = moved_back(starts, ends)
        for _ in self._pauses():
            if not back:
                break
            ends = ends | logs.latest(back)
            # The last stable offset is before what was read if the stream was not always
            # read_committed: that is no loss.
            high = logs.high_watermarks(moved_back(starts, ends))
            ends |= {
                partition: starts[partition]
                for partition in high
                if high[partition] >= starts[partition]
            }
            back = moved_back(starts, ends)
        return ends
