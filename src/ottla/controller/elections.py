"""Changes of one partition: in-sync replicas, eligible replicas, and leader.

Promises  the leader is in sync, or there is none; every broker that is in sync or eligible is a
          replica; every change increments the partition epoch, and every change of leader, removal
          of a replica, or return of a damaged one increments the leader epoch.
Leaves    when a partition changes to `brokers.py`, `alter_partition.py`, `reassignment.py`.

Eligible leader replicas (KIP-966): nothing is committed while fewer than `min_in_sync` replicas are
in sync. A replica that drops out then has all committed records and stays eligible to lead. One
that stopped uncleanly may have lost records: it is neither in sync nor eligible. If no replica is
left, the last known leader becomes leader again when it returns, because no other replica can have
more; this counts as unclean, as does electing any replica where the topic allows it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple

from ottla.base.ids import NO_LEADER, TopicId
from ottla.controller.state import ControllerState
from ottla.metadata.entities import BrokerRegistration, PartitionRegistration, Topic
from ottla.metadata.records import RECOVERING, PartitionChanged

UNKNOWN_DIRECTORY = bytes(16)
BrokerOf = Callable[[int], BrokerRegistration | None]


class Election(Enum):
    PREFERRED = "the preferred replica, if it can; else keep the partition online"
    ONLINE = "keep the partition online with a replica that has everything"
    UNCLEAN = "keep the partition online, with whatever replica there is"


@dataclass(slots=True)
class PartitionTarget:
    """The requested state of a partition, initially its current one. `decide_change` may adjust
    it."""

    replicas: tuple[int, ...]
    in_sync: tuple[int, ...]
    adding: tuple[int, ...]
    removing: tuple[int, ...]
    recovery: int
    directories: dict[int, bytes]
    unclean: frozenset[int] = frozenset()  # stopped uncleanly
    has_truncated: bool = False  # a replica has removed records that its leader knows of
    election: Election = Election.ONLINE

    @classmethod
    def as_is(cls, partition: PartitionRegistration) -> PartitionTarget:
        return cls(
            partition.replicas,
            partition.in_sync_replicas,
            partition.adding_replicas,
            partition.removing_replicas,
            partition.leader_recovery,
            dict(zip(partition.replicas, partition.directories, strict=False)),
        )


class Rules(NamedTuple):
    min_in_sync: int
    may_lead: Callable[[int], bool]
    directory_of: Callable[[int], bytes]  # of a broker with only one directory


class _Elected(NamedTuple):
    leader: int
    is_unclean: bool = False


class TopicRules(NamedTuple):
    """Settings of a topic, looked up once for all its partitions."""

    min_in_sync: int
    election: Election

    @classmethod
    def of(cls, state: ControllerState, topic: Topic) -> TopicRules:
        election = Election.UNCLEAN if state.may_elect_uncleanly(topic) else Election.ONLINE
        return cls(state.min_in_sync(topic), election)

    def rules_for(
        self,
        state: ControllerState,
        partition: PartitionRegistration,
        broker_of: BrokerOf | None = None,
    ) -> Rules:
        """`broker_of` returns brokers in their new state: the decision in progress may change
        them."""
        find = broker_of or state.image.broker

        def may_lead(broker_id: int) -> bool:
            broker = find(broker_id)
            if broker is None or not broker.is_active:
                return False
            return broker.has_directory(partition.directory_of(broker_id))

        def own_directory(broker_id: int) -> bytes:
            return directory_of(state, broker_id)

        return Rules(self.min_in_sync, may_lead, own_directory)


def rules_for(state: ControllerState, topic: Topic, partition: PartitionRegistration) -> Rules:
    return TopicRules.of(state, topic).rules_for(state, partition)


def directory_of(state: ControllerState, broker_id: int) -> bytes:
    broker = state.image.broker(broker_id)
    if broker is not None and len(broker.log_directories) == 1:
        return broker.log_directories[0]
    return UNKNOWN_DIRECTORY


def decide_change(
    topic_id: TopicId,
    index: int,
    partition: PartitionRegistration,
    wanted: PartitionTarget,
    rules: Rules,
) -> PartitionChanged | None:
    """The record that changes a partition to the requested state; None if nothing changes."""
    _complete_reassignment(wanted)
    eligible = _eligible(partition, wanted, rules.min_in_sync)
    elected = _elect(partition, wanted, eligible, rules)
    in_sync, recovery = wanted.in_sync, wanted.recovery
    if elected.is_unclean:
        in_sync, eligible = (elected.leader,), ()
        recovery = RECOVERING
    elif elected.leader in eligible:
        in_sync = (elected.leader,)
        eligible = tuple(each for each in eligible if each != elected.leader)
    new = PartitionRegistration(
        replicas=wanted.replicas,
        in_sync_replicas=in_sync,
        leader=elected.leader,
        eligible_replicas=eligible,
        last_known_leader=_last_known_leader(partition, elected.leader),
        adding_replicas=wanted.adding,
        removing_replicas=wanted.removing,
        leader_recovery=recovery,
        directories=_directories(partition, wanted, rules),
    )
    needs_epoch = (
        elected.is_unclean
        or wanted.has_truncated
        or elected.leader != partition.leader
        or not set(partition.replicas) <= set(wanted.replicas)
    )
    return _difference(topic_id, index, partition, new, needs_epoch=needs_epoch)


def _complete_reassignment(wanted: PartitionTarget) -> None:
    """Once all new replicas are in sync, the removed ones are dropped. If fewer replicas remain
    than before, all of them must be in sync: no other replica has the records that would be
    removed."""
    if not (wanted.adding or wanted.removing):
        return
    in_sync = tuple(each for each in wanted.in_sync if each not in wanted.removing)
    replicas = tuple(each for each in wanted.replicas if each not in wanted.removing)
    needed = replicas if len(wanted.adding) < len(wanted.removing) else wanted.adding
    if replicas and (in_sync or not wanted.removing) and set(needed) <= set(in_sync):
        wanted.in_sync, wanted.replicas = in_sync, replicas
        wanted.adding = wanted.removing = ()


def _eligible(
    partition: PartitionRegistration, wanted: PartitionTarget, min_in_sync: int
) -> tuple[int, ...]:
    if len(wanted.in_sync) >= min_in_sync:
        return ()
    had_everything = {*partition.eligible_replicas, *partition.in_sync_replicas} - wanted.unclean
    return tuple(
        each for each in wanted.replicas if each in had_everything and each not in wanted.in_sync
    )


def _elect(
    partition: PartitionRegistration,
    wanted: PartitionTarget,
    eligible: tuple[int, ...],
    rules: Rules,
) -> _Elected:
    def has_everything(broker_id: int) -> bool:
        pool = wanted.in_sync or eligible
        return broker_id in pool and rules.may_lead(broker_id)

    order = [partition.leader, *wanted.replicas]
    if wanted.election is Election.PREFERRED:
        order.insert(0, wanted.replicas[0])
    for broker_id in order:
        if broker_id in wanted.replicas and has_everything(broker_id):
            return _Elected(broker_id)
    last = partition.leader if partition.has_leader else partition.last_known_leader
    if not (wanted.in_sync or eligible) and last in wanted.replicas and rules.may_lead(last):
        return _Elected(last, is_unclean=True)
    if wanted.election is Election.UNCLEAN:
        for broker_id in wanted.replicas:
            if rules.may_lead(broker_id):
                return _Elected(broker_id, is_unclean=True)
    return _Elected(NO_LEADER)


def _last_known_leader(partition: PartitionRegistration, new_leader: int) -> int:
    """Stored from the moment there is no leader until one is elected."""
    if new_leader != NO_LEADER:
        return NO_LEADER
    return partition.leader if partition.has_leader else partition.last_known_leader


def _directories(
    partition: PartitionRegistration, wanted: PartitionTarget, rules: Rules
) -> tuple[bytes, ...]:
    if wanted.replicas == partition.replicas and not wanted.directories:
        return partition.directories
    return tuple(
        wanted.directories.get(each) or rules.directory_of(each) for each in wanted.replicas
    )


def _difference(
    topic_id: TopicId,
    index: int,
    old: PartitionRegistration,
    new: PartitionRegistration,
    *,
    needs_epoch: bool,
) -> PartitionChanged | None:
    changed = {
        name: value
        for name, value in new._asdict().items()
        if name not in ("leader", "leader_epoch", "partition_epoch") and value != getattr(old, name)
    }
    if needs_epoch:
        changed |= {"leader": new.leader, "leader_epoch": old.leader_epoch + 1}
    if not changed:
        return None
    return PartitionChanged(topic_id, index, old.partition_epoch + 1, **changed)
