"""After a change of leaders: whether the new one has the records that are known (KIP-320).

Promises  nothing is read from a leader that lacks records which were read before, or which the end
          of the range was planned with: LogTruncated is raised. The answer and the reads that
          follow are of the same leader epoch, so that no change in between goes unnoticed.

As Kafka's own consumer, this asks with OffsetForLeaderEpoch, once for each change, and not with
`last_fetched_epoch` in every Fetch request.
"""

from __future__ import annotations

from collections.abc import Iterable

from ottla.client.admin.leader_epochs import EpochEnd, epoch_ends, replaced_from
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import LogTruncated
from ottla.client.fetching.read_position import ReadPosition


def check_histories(cluster: Cluster, positions: Iterable[ReadPosition]) -> None:
    """Check the positions whose leader is newer than what is known of it."""
    due = {}
    for position in positions:
        leader = cluster.leader_of(position.partition)
        if leader is not None and position.must_check(leader.epoch):
            due[position.partition] = position
    if not due:
        return
    found = epoch_ends(cluster, {at: each.known.epoch for at, each in due.items() if each.known})
    for at, position in due.items():
        leader = cluster.leader_of(at)
        if at not in found:
            if leader is not None:
                position.history_checked(leader.epoch)
        else:
            _check(position, found[at])


def _check(position: ReadPosition, end: EpochEnd) -> None:
    assert position.known is not None
    offset, epoch = position.known
    if (lost_from := replaced_from(offset, end)) is not None:
        topic, partition = position.partition
        raise LogTruncated(topic, partition, offset, epoch, lost_from)
    position.history_checked(end.current_epoch)
