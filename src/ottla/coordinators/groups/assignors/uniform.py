"""The uniform assignor: members get equal numbers of partitions, and keep theirs if possible.

Balance has priority over stickiness. If all members subscribe to the same topics, their numbers of
partitions differ by at most one, and as few partitions as possible are moved. Otherwise, partitions
are moved between the subscribers of a topic until no move improves the balance.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping
from heapq import heapify, heappop, heappush, heapreplace

from ottla.coordinators.groups.assignors.division import Division, Subscriber, as_division

SWEEPS_MAX = 16  # each about halves the imbalance


def divide_uniformly(
    subscribers: Mapping[str, Subscriber], partition_counts: Mapping[bytes, int]
) -> Division:
    existing = frozenset(partition_counts)
    subscriptions = {each.topics & existing for each in subscribers.values()}
    if len(subscriptions) <= 1:
        return divide_among_equals(subscribers, partition_counts)
    return Balancing(subscribers, partition_counts).divide()


def divide_among_equals(
    subscribers: Mapping[str, Subscriber], partition_counts: Mapping[bytes, int]
) -> Division:
    """All members subscribe to the same topics."""
    if not subscribers:
        return {}
    topics = next(iter(subscribers.values())).topics & partition_counts.keys()
    everything = [(each, at) for each in sorted(topics) for at in range(partition_counts[each])]
    owned = {name: list(each.kept(partition_counts)) for name, each in subscribers.items()}
    least, extra = divmod(len(everything), len(subscribers))
    # The members with most partitions may keep one more, to move the fewest.
    by_size = sorted(owned, key=lambda member_id: (-len(owned[member_id]), member_id))
    quotas = {member_id: least + (at < extra) for at, member_id in enumerate(by_size)}
    for member_id, quota in quotas.items():
        del owned[member_id][quota:]
    taken = {partition for partitions in owned.values() for partition in partitions}
    free = iter([partition for partition in everything if partition not in taken])
    for member_id in sorted(owned):
        missing = quotas[member_id] - len(owned[member_id])
        owned[member_id] += [next(free) for _ in range(missing)]
    return as_division(owned)


class Balancing:
    """Members subscribe to different topics."""

    def __init__(
        self, subscribers: Mapping[str, Subscriber], partition_counts: Mapping[bytes, int]
    ) -> None:
        self._counts = partition_counts
        self._subscribed: dict[bytes, list[str]] = defaultdict(list)
        self._owned: dict[bytes, dict[str, list[int]]] = defaultdict(lambda: defaultdict(list))
        self._loads = dict.fromkeys(subscribers, 0)
        for member_id in sorted(subscribers):
            subscriber = subscribers[member_id]
            for topic_id in subscriber.topics & partition_counts.keys():
                self._subscribed[topic_id].append(member_id)
            for topic_id, partition in subscriber.kept(partition_counts):
                self._assign(topic_id, partition, member_id)

    def divide(self) -> Division:
        topics = sorted(self._subscribed, key=self._order)
        for topic_id in topics:
            self._assign_unowned(topic_id)
        shared = [topic_id for topic_id in topics if len(self._subscribed[topic_id]) > 1]
        for _ in range(SWEEPS_MAX):
            if not sum(self._balance(topic_id) for topic_id in shared):
                break
        return as_division(self._by_member())

    def _order(self, topic_id: bytes) -> tuple[float, int, bytes]:
        """Topics with the most partitions per subscriber first, then those with the fewest
        subscribers."""
        subscriber_count = len(self._subscribed[topic_id])
        return -self._counts[topic_id] / subscriber_count, subscriber_count, topic_id

    def _assign(self, topic_id: bytes, partition: int, member_id: str) -> None:
        self._owned[topic_id][member_id].append(partition)
        self._loads[member_id] += 1

    def _assign_unowned(self, topic_id: bytes) -> None:
        """Assign partitions without an owner to the member with the fewest."""
        taken = {at for each in self._owned[topic_id].values() for at in each}
        idle = [(self._loads[each], each) for each in self._subscribed[topic_id]]
        heapify(idle)
        for partition in range(self._counts[topic_id]):
            if partition not in taken:
                load, member_id = idle[0]
                self._assign(topic_id, partition, member_id)
                heapreplace(idle, (load + 1, member_id))

    def _balance(self, topic_id: bytes) -> int:
        """Move partitions of one topic from the members with the most to those with the fewest."""
        owned, moved = self._owned[topic_id], 0
        idle = [(self._loads[each], each) for each in self._subscribed[topic_id]]
        busy = [(-self._loads[each], each) for each in owned if owned[each]]
        heapify(idle)
        heapify(busy)
        while busy:
            load, donor = heappop(busy)
            if -load != self._loads[donor] or not owned[donor]:
                continue  # its count has changed since
            while idle[0][0] != self._loads[idle[0][1]]:
                _, member_id = heappop(idle)
                heappush(idle, (self._loads[member_id], member_id))
            least, receiver = idle[0]
            if -load - least <= 1:
                break
            self._loads[donor] -= 1
            self._assign(topic_id, owned[donor].pop(), receiver)
            heappush(busy, (-self._loads[donor], donor))
            heappush(busy, (-self._loads[receiver], receiver))
            moved += 1
        return moved

    def _by_member(self) -> dict[str, list[tuple[bytes, int]]]:
        owned: dict[str, list[tuple[bytes, int]]] = {member_id: [] for member_id in self._loads}
        for topic_id, members in self._owned.items():
            for member_id, partitions in members.items():
                owned[member_id] += ((topic_id, at) for at in partitions)
        return owned
