"""The range assignor: every subscriber of a topic gets a contiguous range of its partitions.

Topics with the same number of partitions and the same subscribers are assigned identically, so that
a member has the same partitions of all of them. Static members come first, ordered by instance id,
so that their assignment is stable across restarts.
"""

from __future__ import annotations

from collections.abc import Mapping

from ottla.coordinators.groups.assignors.division import Division, Subscriber


def divide_by_range(
    subscribers: Mapping[str, Subscriber], partition_counts: Mapping[bytes, int]
) -> Division:
    order = sorted(subscribers, key=lambda member_id: sort_key(member_id, subscribers[member_id]))
    shares: dict[str, dict[bytes, frozenset[int]]] = {member_id: {} for member_id in order}
    for topic_id, count in partition_counts.items():
        consumers = [each for each in order if topic_id in subscribers[each].topics]
        start = 0
        for at, member_id in enumerate(consumers):
            size = count // len(consumers) + (at < count % len(consumers))
            if size:
                shares[member_id][topic_id] = frozenset(range(start, start + size))
            start += size
    return dict(shares)


def sort_key(member_id: str, subscriber: Subscriber) -> tuple[bool, str]:
    if subscriber.instance_id is not None:
        return False, subscriber.instance_id
    return True, member_id
