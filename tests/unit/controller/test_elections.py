"""How one partition changes. Brokers 1, 2 and 3; min ISR 2 unless said otherwise."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace

from ottla.base.ids import NO_LEADER, TopicId
from ottla.controller.elections import Election, PartitionTarget, Rules, decide_change
from ottla.metadata.entities import PartitionRegistration
from ottla.metadata.records import RECOVERED, RECOVERING, PartitionChanged

ID = TopicId(b"t" * 16)
HEALTHY = PartitionRegistration((1, 2, 3), (1, 2, 3), leader=1, leader_epoch=5, partition_epoch=9)


def rules(alive: Iterable[int], min_in_sync: int = 2) -> Rules:
    living = set(alive)
    return Rules(min_in_sync, lambda broker: broker in living, lambda _broker: bytes(16))


def change(
    partition: PartitionRegistration,
    wanted: PartitionTarget,
    alive: Iterable[int],
    min_in_sync: int = 2,
) -> PartitionChanged | None:
    return decide_change(ID, 0, partition, wanted, rules(alive, min_in_sync))


def after(
    partition: PartitionRegistration,
    wanted: PartitionTarget,
    alive: Iterable[int],
    min_in_sync: int = 2,
) -> PartitionRegistration:
    record = change(partition, wanted, alive, min_in_sync)
    return partition if record is None else partition.changed(record)


def wanted(partition: PartitionRegistration, **fields: object) -> PartitionTarget:
    return replace(PartitionTarget.as_is(partition), **fields)  # type: ignore[arg-type]


def test_a_partition_that_is_as_it_should_be_gets_no_record() -> None:
    assert change(HEALTHY, wanted(HEALTHY), {1, 2, 3}) is None


def test_a_follower_that_drops_out_changes_only_the_in_sync_replicas() -> None:
    record = change(HEALTHY, wanted(HEALTHY, in_sync=(1, 2)), {1, 2})
    assert record == PartitionChanged(ID, 0, 10, in_sync_replicas=(1, 2))


def test_when_the_leader_drops_out_the_next_in_sync_replica_leads() -> None:
    record = change(HEALTHY, wanted(HEALTHY, in_sync=(2, 3)), {2, 3})
    assert record == PartitionChanged(ID, 0, 10, leader=2, leader_epoch=6, in_sync_replicas=(2, 3))


def test_leaders_are_taken_in_the_order_of_replicas() -> None:
    partition = HEALTHY._replace(replicas=(3, 2, 1), in_sync_replicas=(1, 2, 3))
    assert after(partition, wanted(partition, in_sync=(2, 3)), {2, 3}).leader == 3


def test_a_replica_that_drops_out_below_the_minimum_stays_eligible() -> None:
    two = HEALTHY._replace(in_sync_replicas=(1, 2))
    now = after(two, wanted(two, in_sync=(1,)), {1})
    assert (now.in_sync_replicas, now.eligible_replicas, now.leader) == ((1,), (2,), 1)


def test_no_replica_is_eligible_while_enough_are_in_sync() -> None:
    one = HEALTHY._replace(in_sync_replicas=(1,), eligible_replicas=(2, 3))
    now = after(one, wanted(one, in_sync=(1, 3)), {1, 3})
    assert (now.in_sync_replicas, now.eligible_replicas) == ((1, 3), ())


def test_an_eligible_replica_leads_without_in_sync_replicas() -> None:
    gone = HEALTHY._replace(in_sync_replicas=(), eligible_replicas=(1, 2), leader=NO_LEADER)
    now = after(gone, wanted(gone), {2})
    assert (now.leader, now.in_sync_replicas, now.eligible_replicas) == (2, (2,), (1,))
    assert (now.leader_epoch, now.leader_recovery) == (6, RECOVERED)


def test_the_last_one_to_go_leaves_the_partition_without_a_leader_and_is_remembered() -> None:
    one = HEALTHY._replace(in_sync_replicas=(1,), eligible_replicas=(2,))
    now = after(one, wanted(one, in_sync=()), set())
    assert (now.leader, now.in_sync_replicas) == (NO_LEADER, ())
    assert now.eligible_replicas == (1, 2)
    assert now.last_known_leader == 1


def test_a_replica_that_stopped_uncleanly_is_not_eligible() -> None:
    one = HEALTHY._replace(in_sync_replicas=(1,), eligible_replicas=(2,))
    now = after(one, wanted(one, in_sync=(), unclean=frozenset({1})), set())
    assert (now.leader, now.eligible_replicas, now.last_known_leader) == (NO_LEADER, (2,), 1)


def test_the_last_known_leader_leads_again_if_no_other_replica_is_left() -> None:
    lost = HEALTHY._replace(in_sync_replicas=(), leader=NO_LEADER, last_known_leader=1)
    now = after(lost, wanted(lost), {1, 2})
    assert (now.leader, now.in_sync_replicas, now.last_known_leader) == (1, (1,), NO_LEADER)
    assert now.leader_recovery == RECOVERING


def test_the_last_known_leader_waits_while_an_eligible_replica_may_return() -> None:
    lost = HEALTHY._replace(
        in_sync_replicas=(), leader=NO_LEADER, last_known_leader=1, eligible_replicas=(2,)
    )
    assert change(lost, wanted(lost), {1, 3}) is None


def test_the_last_known_leader_must_be_alive() -> None:
    lost = HEALTHY._replace(in_sync_replicas=(), leader=NO_LEADER, last_known_leader=1)
    assert change(lost, wanted(lost), {2, 3}) is None


def test_one_replica_that_was_killed_and_is_back_leads_again_with_a_new_epoch() -> None:
    single = PartitionRegistration((1,), (1,), leader=1, leader_epoch=5, partition_epoch=9)
    record = change(single, wanted(single, in_sync=(), unclean=frozenset({1})), {1}, 1)
    assert record == PartitionChanged(
        ID, 0, 10, leader=1, leader_epoch=6, leader_recovery=RECOVERING
    )


def test_an_unclean_election_takes_any_active_replica_as_the_only_one_in_sync() -> None:
    gone = HEALTHY._replace(in_sync_replicas=(), eligible_replicas=(1,), leader=NO_LEADER)
    now = after(gone, wanted(gone, election=Election.UNCLEAN), {3})
    assert (now.leader, now.in_sync_replicas, now.eligible_replicas) == (3, (3,), ())
    assert now.leader_recovery == RECOVERING


def test_an_unclean_election_prefers_a_replica_with_all_records() -> None:
    gone = HEALTHY._replace(in_sync_replicas=(), eligible_replicas=(3,), leader=NO_LEADER)
    now = after(gone, wanted(gone, election=Election.UNCLEAN), {2, 3})
    assert (now.leader, now.leader_recovery) == (3, RECOVERED)


def test_a_clean_election_never_takes_a_replica_that_lacks_records() -> None:
    gone = HEALTHY._replace(in_sync_replicas=(), eligible_replicas=(1,), leader=NO_LEADER)
    assert change(gone, wanted(gone), {2, 3}) is None


def test_a_preferred_election_moves_leadership_to_the_first_replica() -> None:
    second = HEALTHY._replace(leader=2)
    now = after(second, wanted(second, election=Election.PREFERRED), {1, 2, 3})
    assert (now.leader, now.leader_epoch) == (1, 6)


def test_a_preferred_election_leaves_the_leader_if_the_first_replica_is_not_in_sync() -> None:
    second = HEALTHY._replace(leader=2, in_sync_replicas=(2, 3))
    assert change(second, wanted(second, election=Election.PREFERRED), {1, 2, 3}) is None


def test_an_ordinary_change_does_not_move_leadership_to_the_first_replica() -> None:
    second = HEALTHY._replace(leader=2)
    assert change(second, wanted(second), {1, 2, 3}) is None


def test_a_reassignment_completes_when_all_new_replicas_are_in_sync() -> None:
    moving = PartitionRegistration(
        (3, 4, 1), (1, 3), 1, 5, 9, adding_replicas=(4,), removing_replicas=(1,)
    )
    still = after(moving, wanted(moving, in_sync=(1, 3)), {1, 3, 4})
    assert still == moving
    done = after(moving, wanted(moving, in_sync=(1, 3, 4)), {1, 3, 4})
    assert (done.replicas, done.in_sync_replicas, done.is_reassigning) == ((3, 4), (3, 4), False)
    assert (done.leader, done.leader_epoch) == (3, 6)


def test_losing_a_replica_takes_a_new_leader_epoch_even_if_the_leader_stays() -> None:
    moving = PartitionRegistration((1, 2, 3), (1, 2, 3), 1, 5, 9, removing_replicas=(3,))
    done = after(moving, wanted(moving), {1, 2, 3})
    assert (done.replicas, done.leader, done.leader_epoch) == ((1, 2), 1, 6)


def test_new_replicas_get_their_brokers_directory() -> None:
    partition = PartitionRegistration((1,), (1,), 1, directories=(b"a" * 16,))
    moving = wanted(partition, replicas=(2, 1), adding=(2,))
    assert after(partition, moving, {1, 2}, 1).directories == (bytes(16), b"a" * 16)


def test_eligible_replicas_are_always_replicas() -> None:
    moving = PartitionRegistration(
        (2, 1), (1, 2), 1, 5, 9, eligible_replicas=(), adding_replicas=(), removing_replicas=(1,)
    )
    done = after(moving, wanted(moving), {1, 2}, min_in_sync=2)
    assert (done.replicas, done.in_sync_replicas, done.eligible_replicas) == ((2,), (2,), ())
