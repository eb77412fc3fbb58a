"""What becomes of partitions when brokers come and go."""

from __future__ import annotations

import pytest
from tests.unit.controller.clusters import Cluster, directory, three_brokers

from ottla.base.ids import NO_LEADER
from ottla.controller.brokers import (
    decide_controlled_shutdown,
    decide_directories_offline,
    decide_fence_broker,
    decide_register_broker,
    decide_unfence_broker,
    decide_unregister_broker,
)
from ottla.metadata.records import RECOVERING, BrokerRegistered, FeatureLevelSet, PartitionChanged
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.broker_registration_request import Feature

MIN_TWO = {"min.insync.replicas": "2"}


def fence(cluster: Cluster, *broker_ids: int) -> None:
    for broker_id in broker_ids:
        cluster.carry_out(decide_fence_broker(cluster.state, broker_id))


def refusal(cluster: Cluster, **changes: object) -> BrokerError:
    request = cluster.registration(4)
    has_session = bool(changes.pop("has_session", False))
    for name, value in changes.items():
        setattr(request, name, value)
    with pytest.raises(BrokerError) as raised:
        decide_register_broker(cluster.state, request, has_session=has_session)
    return raised.value


def test_a_new_broker_begins_fenced_and_serves_once_it_is_ready() -> None:
    cluster = Cluster()
    request = cluster.registration(1, rack="r")
    epoch = cluster.carry_out(decide_register_broker(cluster.state, request, has_session=False))
    broker = cluster.image.brokers[1]
    assert (broker.epoch, broker.rack, broker.is_fenced) == (epoch, "r", True)
    endpoint = broker.endpoint("PLAINTEXT")
    assert endpoint is not None
    assert (endpoint.host, endpoint.port, endpoint.protocol) == ("host1", 9092, "PLAINTEXT")
    cluster.carry_out(decide_unfence_broker(cluster.state, 1, epoch))
    assert cluster.image.is_active(1)


def test_epochs_of_registrations_only_grow() -> None:
    cluster = Cluster()
    epochs = [cluster.add_broker(1)]
    for _ in range(3):
        cluster.restart_broker(1, is_clean=True)
        epochs.append(cluster.image.brokers[1].epoch)
    assert epochs == sorted(set(epochs))


def test_a_broker_that_amends_its_registration_keeps_epoch_and_state() -> None:
    cluster = Cluster()
    epoch = cluster.add_broker(1)
    incarnation = cluster.image.brokers[1].incarnation_id
    request = cluster.registration(1, rack="new", incarnation=incarnation)
    decision = decide_register_broker(cluster.state, request, has_session=True)
    assert cluster.carry_out(decision) == epoch
    broker = cluster.image.brokers[1]
    assert (broker.rack, broker.is_fenced, broker.epoch) == ("new", False, epoch)


def test_a_fenced_broker_leads_nothing_and_is_in_sync_with_nothing() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2, 3), (2, 3, 1))
    fence(cluster, 1)
    assert (cluster.partition().leader, cluster.partition().in_sync_replicas) == (2, (2, 3))
    assert cluster.partition("t", 1).in_sync_replicas == (2, 3)
    assert cluster.partition("t", 1).leader_epoch == 0
    assert cluster.image.brokers[1].is_fenced


def test_fencing_twice_changes_nothing() -> None:
    cluster = three_brokers()
    fence(cluster, 1)
    assert decide_fence_broker(cluster.state, 1).records == ()


def test_a_returning_broker_leads_partitions_without_a_leader() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2), configs=MIN_TWO)
    fence(cluster, 1, 2)
    assert cluster.partition().leader == NO_LEADER
    assert cluster.partition().eligible_replicas == (1, 2)
    cluster.carry_out(decide_unfence_broker(cluster.state, 1, cluster.image.brokers[1].epoch))
    assert (cluster.partition().leader, cluster.partition().in_sync_replicas) == (1, (1,))


def test_the_last_replica_standing_that_stopped_uncleanly_does_not_lead_alone() -> None:
    # Broker 2 was left behind, broker 1 continued alone and crashed: 2 has all that was committed.
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2), configs=MIN_TWO)
    fence(cluster, 2, 1)
    cluster.restart_broker(1, is_clean=False)
    assert cluster.partition().leader == NO_LEADER
    assert cluster.partition().eligible_replicas == (2,)
    cluster.restart_broker(2, is_clean=True)
    now = cluster.partition()
    assert (now.leader, now.in_sync_replicas, now.leader_recovery) == (2, (2,), 0)


def test_a_clean_restart_keeps_everything_that_one_replica_has() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1,))
    cluster.restart_broker(1, is_clean=True)
    now = cluster.partition()
    assert (now.leader, now.in_sync_replicas, now.leader_recovery) == (1, (1,), 0)
    assert now.leader_epoch == 2  # there was no leader in between


def test_a_topic_with_one_replica_survives_a_killed_broker() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1,))
    cluster.restart_broker(1, is_clean=False)
    now = cluster.partition()
    assert (now.leader, now.in_sync_replicas, now.leader_recovery) == (1, (1,), RECOVERING)


def test_a_min_isr_above_the_number_of_replicas_counts_as_that_number() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1,), configs={"min.insync.replicas": "3"})
    fence(cluster, 1)
    assert cluster.partition().eligible_replicas == (1,)
    cluster.restart_broker(1, is_clean=True)
    assert (cluster.partition().leader, cluster.partition().eligible_replicas) == (1, ())


def test_an_unclean_restart_drops_a_broker_from_every_isr_even_without_fencing() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2, 3))
    request = cluster.registration(1)
    cluster.carry_out(decide_register_broker(cluster.state, request, has_session=False))
    assert (cluster.partition().leader, cluster.partition().in_sync_replicas) == (2, (2, 3))


def test_the_epoch_of_an_older_registration_does_not_count_as_a_clean_stop() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1,))
    old = cluster.image.brokers[1].epoch
    cluster.restart_broker(1, is_clean=True)
    request = cluster.registration(1, previous_epoch=old)
    cluster.carry_out(decide_register_broker(cluster.state, request, has_session=False))
    assert cluster.partition().eligible_replicas == ()
    assert cluster.partition().last_known_leader == 1


def test_a_single_broker_that_is_ready_at_once_continues_after_a_clean_stop_as_it_was() -> None:
    cluster = Cluster()
    epoch = cluster.add_broker(1)
    cluster.add_topic("t", (1,), (1,))
    request = cluster.registration(1, previous_epoch=epoch)
    decision = decide_register_broker(cluster.state, request, has_session=False, is_ready=True)
    assert [type(record) for record in decision.records] == [BrokerRegistered]
    cluster.carry_out(decision)
    assert cluster.image.is_active(1)
    assert (cluster.partition().leader, cluster.partition().leader_epoch) == (1, 0)


def test_a_single_broker_that_was_killed_leads_again_with_new_epochs() -> None:
    cluster = Cluster()
    cluster.add_broker(1)
    cluster.add_topic("t", (1,), (1,))
    request = cluster.registration(1)
    decision = decide_register_broker(cluster.state, request, has_session=False, is_ready=True)
    cluster.carry_out(decision)
    for index in range(2):
        now = cluster.partition("t", index)
        assert (now.leader, now.leader_epoch, now.in_sync_replicas) == (1, 1, (1,))
        assert now.partition_epoch == 1
        assert now.leader_recovery == RECOVERING


def test_a_single_broker_that_failed_to_come_back_once_leads_at_the_next_attempt() -> None:
    cluster = Cluster()
    cluster.add_broker(1)
    cluster.add_topic("t", (1,))
    request = cluster.registration(1)  # registers, and dies before it is ready
    cluster.carry_out(decide_register_broker(cluster.state, request, has_session=False))
    assert cluster.partition().leader == NO_LEADER
    request = cluster.registration(1)
    decision = decide_register_broker(cluster.state, request, has_session=False, is_ready=True)
    cluster.carry_out(decision)
    assert cluster.partition().leader == 1


def test_where_the_topic_allows_it_any_replica_leads_at_once() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2), configs={"unclean.leader.election.enable": "true"})
    fence(cluster, 2)
    cluster.carry_out(decide_unfence_broker(cluster.state, 2, cluster.image.brokers[2].epoch))
    assert cluster.partition().in_sync_replicas == (1,)
    fence(cluster, 1)
    assert (cluster.partition().leader, cluster.partition().leader_recovery) == (2, RECOVERING)


def test_a_controlled_shutdown_moves_leadership_and_is_allowed() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2, 3))
    cluster.add_topic("alone", (1,))
    epoch = cluster.image.brokers[1].epoch
    assert cluster.carry_out(decide_controlled_shutdown(cluster.state, 1, epoch))
    assert cluster.image.brokers[1].is_shutting_down
    assert cluster.partition().leader == 2
    assert cluster.partition("alone").eligible_replicas == (1,)
    again = decide_controlled_shutdown(cluster.state, 1, epoch)
    assert (again.records, again.answer) == ((), True)


@pytest.mark.parametrize("is_stopping", [False, True])
@pytest.mark.parametrize("is_fenced", [False, True])
def test_a_broker_that_registers_again_in_the_same_run_is_in_the_state_it_was(
    is_stopping: bool, is_fenced: bool
) -> None:
    """It repeats a request whose response it has missed."""
    cluster = three_brokers()
    known = cluster.image.brokers[1]
    if is_stopping:
        cluster.carry_out(decide_controlled_shutdown(cluster.state, 1, known.epoch))
    if is_fenced:
        cluster.carry_out(decide_fence_broker(cluster.state, 1))
    before = cluster.image.brokers[1]
    request = cluster.registration(1, incarnation=known.incarnation_id)
    decision = decide_register_broker(cluster.state, request, has_session=True)
    assert cluster.carry_out(decision) == known.epoch
    assert cluster.image.brokers[1] == before


def test_a_broker_that_is_stopping_and_became_in_sync_again_is_dropped_when_it_asks_again() -> None:
    """A leader may have added it between the two requests."""
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2, 3))
    epoch = cluster.image.brokers[1].epoch
    cluster.carry_out(decide_controlled_shutdown(cluster.state, 1, epoch))
    topic, partition = cluster.image.topics["t"], cluster.partition()
    added = PartitionChanged(
        topic.id, 0, partition.partition_epoch + 1, in_sync_replicas=(2, 3, 1), leader=1,
        leader_epoch=partition.leader_epoch + 1,
    )  # fmt: skip
    cluster.apply([added])
    assert cluster.carry_out(decide_controlled_shutdown(cluster.state, 1, epoch))
    assert cluster.partition().in_sync_replicas == (2, 3)
    assert cluster.partition().leader == 2


def test_the_directory_of_a_fenced_broker_is_taken() -> None:
    cluster = three_brokers()
    cluster.carry_out(decide_fence_broker(cluster.state, 2))
    request = cluster.registration(4)
    request.log_dirs = [directory(2)]
    with pytest.raises(BrokerError, match="Broker 2 is already registered with directory"):
        decide_register_broker(cluster.state, request, has_session=False)


def test_a_broker_that_is_stopping_gets_no_new_leaderships() -> None:
    cluster = three_brokers()
    epoch = cluster.image.brokers[1].epoch
    cluster.carry_out(decide_controlled_shutdown(cluster.state, 1, epoch))
    cluster.add_topic("t", (1, 2))
    assert (cluster.partition().leader, cluster.partition().in_sync_replicas) == (2, (2,))


def test_a_broker_that_is_forgotten_is_not_even_eligible() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2), configs=MIN_TWO)
    fence(cluster, 1)
    assert cluster.partition().eligible_replicas == (1,)
    cluster.carry_out(decide_unregister_broker(cluster.state, 1))
    assert cluster.image.broker(1) is None
    assert cluster.partition().eligible_replicas == ()


def test_a_failed_directory_moves_only_what_is_in_it() -> None:
    cluster = Cluster()
    cluster.add_broker(1, directories=1)
    cluster.add_broker(2)
    cluster.add_topic("t", (1, 2))
    epoch = cluster.image.brokers[1].epoch
    unknown = decide_directories_offline(cluster.state, 1, epoch, [b"x" * 16])
    assert unknown.records == ()
    lost = decide_directories_offline(cluster.state, 1, epoch, [directory(1)])
    cluster.carry_out(lost)
    assert (cluster.partition().leader, cluster.partition().in_sync_replicas) == (2, (2,))
    assert cluster.image.brokers[1].log_directories == ()
    fence(cluster, 2)
    assert cluster.partition().leader == NO_LEADER  # broker 1 is alive, its directory is not


@pytest.mark.parametrize(
    ("changes", "code", "message"),
    [
        (
            {"cluster_id": "other"},
            ErrorCode.INCONSISTENT_CLUSTER_ID,
            "Expected cluster ID test-cluster, but got cluster ID other",
        ),
        ({"log_dirs": []}, ErrorCode.INVALID_REGISTRATION, "No directories specified in request"),
        (
            {"log_dirs": [bytes(15) + b"\1"]},
            ErrorCode.INVALID_REGISTRATION,
            "Reserved directory ID in request",
        ),
        (
            {"log_dirs": [b"d" * 16, b"d" * 16]},
            ErrorCode.INVALID_REGISTRATION,
            "Duplicate directory ID in request",
        ),
        (
            {"log_dirs": [directory(2)]},
            ErrorCode.INVALID_REGISTRATION,
            "Broker 2 is already registered with directory",
        ),
        (
            {"features": []},
            ErrorCode.UNSUPPORTED_VERSION,
            "does not support finalized version 30 of metadata.version",
        ),
        (
            {"features": [Feature("metadata.version", 7, 30)]},
            ErrorCode.UNSUPPORTED_VERSION,
            "does not support finalized version 1 of ",
        ),
        (
            {"broker_id": 1, "has_session": True},
            ErrorCode.DUPLICATE_BROKER_REGISTRATION,
            "Another broker is registered with that broker id.",
        ),
    ],
)
def test_a_rejected_registration_has_a_reason(
    changes: dict[str, object], code: ErrorCode, message: str
) -> None:
    cluster = three_brokers()
    cluster.apply([FeatureLevelSet("transaction.version", 0)])
    error = refusal(cluster, **dict(changes))
    assert error.code is code
    assert message in error.message


def test_only_the_broker_as_it_is_registered_now_may_ask() -> None:
    cluster = three_brokers()
    for broker_id, epoch, message in (
        (9, 0, "No broker registration found for broker id 9"),
        (1, 0, "Expected broker epoch"),
    ):
        for decide in (decide_unfence_broker, decide_controlled_shutdown):
            with pytest.raises(BrokerError, match=message) as raised:
                decide(cluster.state, broker_id, epoch)
            assert raised.value.code is ErrorCode.STALE_BROKER_EPOCH


def test_a_stranger_can_neither_be_fenced_nor_forgotten() -> None:
    for decide in (decide_fence_broker, decide_unregister_broker):
        with pytest.raises(BrokerError, match="Broker ID 9 is not currently registered") as raised:
            decide(three_brokers().state, 9)
        assert raised.value.code is ErrorCode.BROKER_ID_NOT_REGISTERED


def replace_directory(cluster: Cluster, broker_id: int, number: int) -> None:
    """The broker is stopped cleanly, and comes back with a new directory instead of its own."""
    previous = cluster.image.brokers[broker_id].epoch
    request = cluster.registration(broker_id, previous_epoch=previous)
    request.log_dirs = [directory(broker_id, number)]
    epoch = cluster.carry_out(decide_register_broker(cluster.state, request, has_session=False))
    cluster.carry_out(decide_unfence_broker(cluster.state, broker_id, epoch))


def test_a_broker_with_a_replaced_directory_has_lost_what_was_in_it() -> None:
    """Although it was stopped cleanly."""
    cluster = three_brokers()
    cluster.add_topic("t", (1, 2), configs=MIN_TWO)
    fence(cluster, 2, 1)
    assert cluster.partition().eligible_replicas == (1, 2)
    replace_directory(cluster, 1, 5)
    now = cluster.partition()
    assert (now.leader, now.eligible_replicas) == (NO_LEADER, (2,))
    cluster.restart_broker(2, is_clean=True)
    now = cluster.partition()
    assert (now.leader, now.in_sync_replicas) == (2, (2,))


def test_the_only_replica_does_not_lead_from_an_empty_directory() -> None:
    cluster = three_brokers()
    cluster.add_topic("t", (1,))
    replace_directory(cluster, 1, 5)
    assert cluster.partition().leader == NO_LEADER
    replace_directory(cluster, 1, 0)  # the old one is back
    now = cluster.partition()
    assert (now.leader, now.in_sync_replicas) == (1, (1,))


def test_equal_partitions_of_topics_with_other_settings_change_otherwise() -> None:
    cluster = three_brokers()
    cluster.add_topic("plain", [1, 2], [1, 2])
    cluster.add_topic("strict", [1, 2], configs=MIN_TWO)
    decision = decide_fence_broker(cluster.state, 1)
    cluster.carry_out(decision)
    plain = cluster.image.topics["plain"].partitions
    assert [(each.eligible_replicas, each.leader) for each in plain] == [((), 2), ((), 2)]
    assert cluster.partition("strict").eligible_replicas == (1,)
    changed = [each for each in decision.records if isinstance(each, PartitionChanged)]
    ids = {each: cluster.image.topics[each].id for each in ("plain", "strict")}
    assert {(each.topic_id, each.partition) for each in changed} == {
        (ids["plain"], 0), (ids["plain"], 1), (ids["strict"], 0)
    }  # fmt: skip


def test_equal_partitions_of_a_topic_that_permits_it_are_led_by_any_replica() -> None:
    cluster = three_brokers()
    cluster.add_topic("clean", [1, 2])
    cluster.add_topic("unclean", [1, 2], configs={"unclean.leader.election.enable": "true"})
    fence(cluster, 2)
    cluster.restart_broker(2, is_clean=False)  # it is in sync with nothing
    fence(cluster, 1)
    assert cluster.partition("clean").leader == NO_LEADER
    assert cluster.partition("unclean").leader == 2
