"""Registration, fencing, shutdown and removal of brokers, and their effect on partitions.

A broker that restarts must prove a clean shutdown: the epoch in its clean-shutdown marker is its
last registered one. Otherwise it may have lost acknowledged records, and leaves all in-sync
replicas until it has caught up.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import replace

from ottla.controller.decision import Decision
from ottla.controller.elections import PartitionTarget, TopicRules, decide_change
from ottla.controller.registration import check_registration, registration_record
from ottla.controller.state import ControllerState
from ottla.metadata.entities import BrokerRegistration, PartitionRegistration, Topic
from ottla.metadata.records import BrokerChanged, BrokerUnregistered, PartitionChanged
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.broker_registration_request import BrokerRegistrationRequest


def decide_register_broker(
    state: ControllerState,
    request: BrokerRegistrationRequest,
    *,
    has_session: bool,
    is_ready: bool = False,
) -> Decision[int]:
    """The answer is the broker epoch. BrokerError if the broker may not register.

    `has_session`: the last broker registered under this id is still alive. `is_ready`: the broker
    has recovered all its logs and serves at once, as a single broker does; otherwise it starts
    fenced until `decide_unfence_broker`.
    """
    previous = state.image.broker(request.broker_id)
    check_registration(state, request, previous, has_session=has_session)
    if previous is not None and previous.incarnation_id == request.incarnation_id:
        record = registration_record(request, previous.epoch, like=previous)
        return Decision((record,), previous.epoch)
    epoch = state.image.offset
    record = registration_record(request, epoch, is_fenced=not is_ready)
    is_clean = previous is None or previous.epoch == request.previous_broker_epoch
    changes = _after_stop(state, BrokerRegistration.registered(record), is_clean=is_clean)
    return Decision((record, *changes), epoch)


def _after_stop(
    state: ControllerState, broker: BrokerRegistration, *, is_clean: bool
) -> list[PartitionChanged]:
    """The changes for a broker that was stopped, possibly without a controlled shutdown. Replicas
    in directories that it does not have any more have lost everything."""

    def is_kept(partition: PartitionRegistration) -> bool:
        return broker.has_directory(partition.directory_of(broker.id))

    def is_lost(partition: PartitionRegistration) -> bool:
        return _had_everything(partition, broker.id) and not is_kept(partition)

    if is_clean and broker.is_active:
        return _change_all(state, _without_leader, broker)
    if is_clean:
        return [*_drop(state, broker, is_kept), *_lose(state, is_lost, broker)]

    def concerns(partition: PartitionRegistration) -> bool:
        is_up_for_election = broker.is_active and not partition.has_leader
        return is_up_for_election or _had_everything(partition, broker.id)

    return _lose(state, concerns, broker)


def decide_unfence_broker(state: ControllerState, broker_id: int, epoch: int) -> Decision[None]:
    """A broker has caught up, and becomes leader of partitions without one."""
    state.check_broker_epoch(broker_id, epoch)
    broker = _registered(state, broker_id)
    if not broker.is_fenced:
        return Decision((), None)
    record = BrokerChanged(broker_id, epoch, is_fenced=False)
    changes = _change_all(state, _without_leader, broker.changed(record))
    return Decision((record, *changes), None)


def decide_fence_broker(
    state: ControllerState, broker_id: int, epoch: int | None = None
) -> Decision[None]:
    """A broker's session expired, or it requests this itself, with its epoch: elect other leaders
    for its partitions."""
    if epoch is not None:
        state.check_broker_epoch(broker_id, epoch)
    broker = _registered(state, broker_id)
    if broker.is_fenced:
        return Decision((), None)
    record = BrokerChanged(broker_id, broker.epoch, is_fenced=True)
    return Decision((*_drop(state, broker.changed(record)), record), None)


def decide_heartbeat(state: ControllerState, broker_id: int, epoch: int) -> Decision[None]:
    """A heartbeat without a change. BrokerError if it is not from the registered broker."""
    state.check_broker_epoch(broker_id, epoch)
    return Decision((), None)


def decide_controlled_shutdown(
    state: ControllerState, broker_id: int, epoch: int
) -> Decision[bool]:
    """A broker requests to stop. The answer is whether it leads nothing any more and may stop."""
    state.check_broker_epoch(broker_id, epoch)
    broker = _registered(state, broker_id)
    record = BrokerChanged(broker_id, epoch, is_shutting_down=True)
    changes = _drop(state, broker.changed(record))
    moved = {(each.topic_id, each.partition) for each in changes if each.leader is not None}
    leads = any(
        partition.leader == broker_id and (topic.id, index) not in moved
        for topic, index, partition in state.image.all_partitions()
    )
    if broker.is_shutting_down:
        return Decision(tuple(changes), not leads)
    return Decision((record, *changes), not leads)


def decide_unregister_broker(state: ControllerState, broker_id: int) -> Decision[None]:
    """Remove a broker permanently. BrokerError if it does not exist."""
    broker = _registered(state, broker_id)
    changes = _change_all(
        state,
        lambda partition: _had_everything(partition, broker_id),
        replace(broker, is_fenced=True),
        is_dropped=True,
        is_unclean=True,
    )
    return Decision((*changes, BrokerUnregistered(broker_id, broker.epoch)), None)


def decide_directories_offline(
    state: ControllerState, broker_id: int, epoch: int, offline: Iterable[bytes]
) -> Decision[None]:
    """Directories of a broker failed: elect other leaders for their partitions."""
    state.check_broker_epoch(broker_id, epoch)
    broker = _registered(state, broker_id)
    lost = set(offline) & set(broker.log_directories)
    if not lost:
        return Decision((), None)
    left = tuple(each for each in broker.log_directories if each not in lost)
    record = BrokerChanged(broker_id, epoch, log_directories=left)

    def concerns(partition: PartitionRegistration) -> bool:
        is_lost = partition.directory_of(broker_id) in lost
        return is_lost and broker_id in partition.in_sync_replicas

    changes = _change_all(state, concerns, broker.changed(record), is_dropped=True)
    return Decision((*changes, record), None)


def _everywhere(_partition: PartitionRegistration) -> bool:
    return True


def _drop(
    state: ControllerState,
    broker: BrokerRegistration,
    where: Callable[[PartitionRegistration], bool] = _everywhere,
) -> list[PartitionChanged]:
    """Remove the broker from all in-sync replicas; it stays eligible where it has all committed
    records."""

    def concerns(partition: PartitionRegistration) -> bool:
        return broker.id in partition.in_sync_replicas and where(partition)

    return _change_all(state, concerns, broker, is_dropped=True)


def _lose(
    state: ControllerState,
    concerns: Callable[[PartitionRegistration], bool],
    broker: BrokerRegistration,
) -> list[PartitionChanged]:
    """Remove the broker from replicas that have everything: it may have lost records."""
    return _change_all(state, concerns, broker, is_dropped=True, is_unclean=True)


def _change_all(
    state: ControllerState,
    concerns: Callable[[PartitionRegistration], bool],
    broker: BrokerRegistration,
    *,
    is_dropped: bool = False,
    is_unclean: bool = False,
) -> list[PartitionChanged]:
    """The partition changes that follow from a change of one broker. `broker` is its new state."""

    def broker_of(broker_id: int) -> BrokerRegistration | None:
        return broker if broker_id == broker.id else state.image.broker(broker_id)

    def change(topic: Topic, index: int, settings: TopicRules) -> PartitionChanged | None:
        partition = topic.partitions[index]
        wanted = PartitionTarget.as_is(partition)
        wanted.election = settings.election
        if is_dropped:
            wanted.in_sync = tuple(each for each in wanted.in_sync if each != broker.id)
        if is_unclean:
            wanted.unclean = frozenset({broker.id})
        rules = settings.rules_for(state, partition, broker_of)
        return decide_change(topic.id, index, partition, wanted, rules)

    # Thousands of partitions have a few different states, of which each is decided once.
    known: dict[tuple[PartitionRegistration, TopicRules], PartitionChanged | None] = {}

    def change_once_per_state(
        topic: Topic, index: int, settings: TopicRules
    ) -> PartitionChanged | None:
        key = topic.partitions[index], settings
        if key not in known:
            known[key] = change(topic, index, settings)
        found = known[key]
        return None if found is None else found.of_partition(topic.id, index)

    changes: list[PartitionChanged | None] = []
    for topic in state.image.topics.values():
        concerned = [index for index, each in enumerate(topic.partitions) if concerns(each)]
        if concerned:
            settings = TopicRules.of(state, topic)
            changes += [change_once_per_state(topic, index, settings) for index in concerned]
    return [each for each in changes if each is not None]


def _without_leader(partition: PartitionRegistration) -> bool:
    return not partition.has_leader


def _had_everything(partition: PartitionRegistration, broker_id: int) -> bool:
    return broker_id in partition.in_sync_replicas or broker_id in partition.eligible_replicas


def _registered(state: ControllerState, broker_id: int) -> BrokerRegistration:
    broker = state.image.broker(broker_id)
    if broker is None:
        what = f"Broker ID {broker_id} is not currently registered"
        raise BrokerError(ErrorCode.BROKER_ID_NOT_REGISTERED, what)
    return broker
