"""The state of a cluster that a broker is to leave, and whether it can. Pure, except for `read`."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ottla.base.ids import TopicPartition
from ottla.cli.decommission.plan import Move, TooFewBrokers, plan_moves
from ottla.cli.errors import CommandFailed
from ottla.client.admin.brokers import BrokerDescription, describe_brokers
from ottla.client.admin.reassignments import Reassignment, list_reassignments
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.topology import PartitionDescription

NAMES_SHOWN = 10


@dataclass(frozen=True)
class ClusterState:
    brokers: Mapping[int, BrokerDescription]
    partitions: Mapping[TopicPartition, PartitionDescription]
    reassignments: Mapping[TopicPartition, Reassignment]

    @property
    def serving(self) -> list[int]:
        return [each.id for each in self.brokers.values() if not each.is_fenced]

    @property
    def fenced(self) -> list[int]:
        return [each.id for each in self.brokers.values() if each.is_fenced]

    @property
    def targets(self) -> dict[TopicPartition, tuple[int, ...]]:
        """The replicas of all partitions, once the ongoing reassignments have ended."""
        return {
            at: self.reassignments[at].target if at in self.reassignments else each.replicas
            for at, each in self.partitions.items()
        }

    def held_by(self, broker_id: int) -> list[TopicPartition]:
        """Partitions with a replica on this broker now."""
        return [at for at, each in self.partitions.items() if broker_id in each.replicas]


def read(cluster: Cluster) -> ClusterState:
    brokers = {each.id: each for each in describe_brokers(cluster)}
    reassignments = list_reassignments(cluster)
    topics = cluster.read_metadata(None)
    partitions = {
        TopicPartition(name, each.partition): each
        for name, topic in topics.items()
        for each in topic.partitions
    }
    return ClusterState(brokers, partitions, reassignments)


def check(state: ClusterState, broker_id: int) -> None:
    """CommandFailed if the broker is not one of this cluster, or cannot leave it."""
    is_known = broker_id in state.brokers or bool(state.held_by(broker_id))
    if not is_known:
        known = ", ".join(map(str, sorted(state.brokers)))
        raise CommandFailed(
            f"there is no broker {broker_id} in this cluster, and no partition has a replica on it",
            f"its brokers are {known}",
        )
    if not [each for each in state.brokers if each != broker_id]:
        raise CommandFailed(
            f"broker {broker_id} is the only broker of this cluster",
            "add a broker before this one leaves",
        )
    stuck = [
        f"{at.topic}-{at.partition}"
        for at in sorted(state.held_by(broker_id))
        if state.partitions[at].leader < 0
    ]
    if stuck:
        raise CommandFailed(
            f"{listed(stuck)} without a leader: there is nothing to copy from",
            f"start broker {broker_id}, or another one that has the records, and try again",
        )


def plan(state: ClusterState, broker_id: int, *, may_replace_dead: bool = True) -> list[Move]:
    """The moves that are needed besides the ongoing ones; CommandFailed if that is not possible. A
    broker that ended while a replica was copied to it is replaced by another one."""
    assignments = state.targets
    dead = set(state.fenced) if may_replace_dead else set()
    leaving: dict[TopicPartition, set[int]] = {}
    for at, replicas in assignments.items():
        moving = state.reassignments.get(at)
        removed = {broker_id} & set(replicas)
        if moving is not None and broker_id in (*moving.removing, *moving.adding):
            removed |= dead & set(moving.adding) & set(replicas)
        if removed:
            leaving[at] = removed
    racks = {each: state.brokers[each].rack for each in state.serving if each != broker_id}
    try:
        return plan_moves(assignments, leaving, racks)
    except TooFewBrokers as refused:
        raise too_few(state, broker_id, refused) from None


def too_few(state: ClusterState, broker_id: int, refused: TooFewBrokers) -> CommandFailed:
    others = [each for each in state.serving if each != broker_id]
    dead = [each for each in state.fenced if each != broker_id]
    topics = [f"{name} (replication factor {n})" for name, n in refused.factors.items()]
    advice = [f"add a broker, or reduce the replication factor to {len(others)}"]
    if dead:
        advice.append(f"start the brokers that are fenced: {', '.join(map(str, dead))}")
    return CommandFailed(
        f"without broker {broker_id} {there_are(len(others))}, too few for {listed(topics)}",
        *advice,
    )


def there_are(brokers: int) -> str:
    return "there is 1 broker" if brokers == 1 else f"there are {brokers} brokers"


def listed(names: list[str]) -> str:
    more = len(names) - NAMES_SHOWN
    return ", ".join(names[:NAMES_SHOWN]) + (f" and {more} more" if more > 0 else "")
