"""The new brokers of the replicas of a broker that leaves the cluster. Pure.

Promises  a partition keeps its replication factor, has no broker twice, and only replicas that must
          leave are exchanged: all others keep their place in the list. A rack that the remaining
          replicas do not use is preferred. Among the brokers that are allowed so, the numbers of
          replicas become as equal as they can without moving anything else.
Leaves    reading the cluster to `cluster_state.py`, making the changes to `reassigning.py`.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass

from ottla.base.ids import TopicPartition


@dataclass(frozen=True)
class Move:
    """The replicas of one partition, before and after."""

    partition: TopicPartition
    before: tuple[int, ...]
    after: tuple[int, ...]


class TooFewBrokers(Exception):
    """Partitions have more replicas than there will be brokers for them."""

    def __init__(self, partitions: Mapping[TopicPartition, int]) -> None:
        super().__init__(f"{len(partitions)} partitions have too many replicas")
        self.partitions = partitions  # with the number of their replicas

    @property
    def factors(self) -> dict[str, int]:
        """The largest number of replicas of each topic."""
        found: dict[str, int] = {}
        for at, factor in self.partitions.items():
            found[at.topic] = max(factor, found.get(at.topic, 0))
        return dict(sorted(found.items()))


@dataclass
class _Slot:
    """One replica that must leave, and the brokers that may have it instead."""

    partition: TopicPartition
    index: int  # in the list of replicas
    allowed: frozenset[int]
    target: int = -1


def plan_moves(
    assignments: Mapping[TopicPartition, Sequence[int]],
    leaving: Mapping[TopicPartition, Collection[int]],
    racks: Mapping[int, str | None],
) -> list[Move]:
    """New replicas for those of `leaving`, on the brokers of `racks`; TooFewBrokers if there are
    not enough of them."""
    after = {at: list(replicas) for at, replicas in assignments.items()}
    loads = dict.fromkeys(racks, 0)
    for at, replicas in assignments.items():
        for each in set(replicas) - set(leaving.get(at, ())):
            if each in loads:
                loads[each] += 1
    # Partitions with several replicas to exchange take one slot in each round: the target of the
    # first one limits the targets of the others.
    while slots := _next_slots(after, leaving, racks):
        _fill(slots, loads)
        for slot in slots:
            after[slot.partition][slot.index] = slot.target
    return [
        Move(at, tuple(assignments[at]), tuple(after[at]))
        for at in sorted(leaving)
        if tuple(assignments[at]) != tuple(after[at])
    ]


def _next_slots(
    after: Mapping[TopicPartition, Sequence[int]],
    leaving: Mapping[TopicPartition, Collection[int]],
    racks: Mapping[int, str | None],
) -> list[_Slot]:
    slots, impossible = [], dict[TopicPartition, int]()
    for at in sorted(leaving):
        replicas = after[at]
        indexes = [index for index, each in enumerate(replicas) if each in leaving[at]]
        if not indexes:
            continue
        allowed = targets(replicas, leaving[at], racks)
        if allowed:
            slots.append(_Slot(at, indexes[0], allowed))
        else:
            impossible[at] = len(replicas)
    if impossible:
        raise TooFewBrokers(impossible)
    return slots


def targets(
    replicas: Sequence[int], leaving: Collection[int], racks: Mapping[int, str | None]
) -> frozenset[int]:
    """The brokers that may replace one of `leaving`: those in a rack that no other replica uses, if
    there are any. A broker without a rack counts as a rack of its own."""
    staying = set(replicas) - set(leaving)
    free = frozenset(racks.keys() - set(replicas) - set(leaving))
    used = {racks.get(each) for each in staying} - {None}
    elsewhere = frozenset(each for each in free if racks[each] is None or racks[each] not in used)
    return elsewhere or free


def _fill(slots: Sequence[_Slot], loads: dict[int, int]) -> None:
    """Choose a target for each slot; `loads` then counts them."""
    for slot in sorted(slots, key=lambda slot: len(slot.allowed)):
        slot.target = min(slot.allowed, key=lambda each: (loads[each], each))
        loads[slot.target] += 1
    while any(_improve(slots, loads, each) for each in _heaviest_first(loads)):
        pass


def _heaviest_first(loads: Mapping[int, int]) -> list[int]:
    return sorted(loads, key=lambda each: (-loads[each], each))


def _improve(slots: Sequence[_Slot], loads: dict[int, int], heavy: int) -> bool:
    """Take one slot from a broker, if another one with at least two replicas less can have it,
    possibly through a chain of others. If no such chain exists for any broker, the numbers of
    replicas are as equal as they can be (an optimal semi-matching)."""
    by_target: dict[int, list[_Slot]] = {}
    for slot in slots:
        by_target.setdefault(slot.target, []).append(slot)
    reached: dict[int, _Slot] = {}  # by broker, the slot that it would get
    waiting = deque([heavy])
    while waiting:
        current = waiting.popleft()
        if loads[current] <= loads[heavy] - 2:
            _shift(reached, current, heavy)
            loads[heavy] -= 1
            loads[current] += 1
            return True
        for slot in by_target.get(current, ()):
            for each in sorted(slot.allowed - reached.keys() - {heavy}):
                reached[each] = slot
                waiting.append(each)
    return False


def _shift(reached: Mapping[int, _Slot], last: int, heavy: int) -> None:
    while last != heavy:
        slot = reached[last]
        slot.target, last = last, slot.target


def replica_counts(assignments: Iterable[Sequence[int]], brokers: Iterable[int]) -> dict[int, int]:
    counts = dict.fromkeys(sorted(brokers), 0)
    for replicas in assignments:
        for each in replicas:
            if each in counts:
                counts[each] += 1
    return counts
