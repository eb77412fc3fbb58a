"""Partitions with explicit replica assignments."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.base.ids import TopicId
from ottla.controller.decision import ItemRejected
from ottla.controller.elections import directory_of
from ottla.controller.placement import candidates, place
from ottla.controller.state import ControllerState
from ottla.metadata.records import PartitionCreated
from ottla.protocol.error_codes import ErrorCode


def check_replicas(
    state: ControllerState, replicas: Sequence[int], factor: int | None = None
) -> None:
    """Refused unless these brokers exist, without duplicates, with the same count as in other
    partitions."""
    if not replicas:
        raise _refused("The manual partition assignment includes an empty replica list.")
    _check_brokers(state, replicas)
    if factor is not None and len(replicas) != factor:
        raise _refused(
            f"The manual partition assignment includes a partition with {len(replicas)} "
            "replica(s), but this is not consistent with previous partitions, which have "
            f"{factor} replica(s)."
        )


def _check_brokers(state: ControllerState, replicas: Sequence[int]) -> None:
    """Reports the smallest unknown id, without sorting a list that may be large."""
    seen: set[int] = set()
    unknown: int | None = None
    repeated: int | None = None
    for broker_id in replicas:
        if state.image.broker(broker_id) is None:
            unknown = broker_id if unknown is None else min(unknown, broker_id)
        elif broker_id in seen:
            repeated = broker_id if repeated is None else min(repeated, broker_id)
        else:
            seen.add(broker_id)
    if unknown is not None and (repeated is None or unknown < repeated):
        raise _refused(
            f"The manual partition assignment includes broker {unknown}, but no such broker is "
            "registered."
        )
    if repeated is not None:
        raise _refused(
            f"The manual partition assignment includes the broker {repeated} more than once."
        )


def chosen_partition(
    state: ControllerState, topic_id: TopicId, index: int, replicas: Sequence[int]
) -> PartitionCreated:
    """A new partition on explicitly assigned brokers."""
    if not any(state.image.is_active(each) for each in replicas):
        raise _refused(
            f"All brokers specified in the manual partition assignment for partition {index} are "
            "fenced or in controlled shutdown."
        )
    return _new_partition(state, topic_id, index, replicas)


def placed_partitions(
    state: ControllerState, topic_id: TopicId, first: int, count: int, factor: int
) -> list[PartitionCreated]:
    """New partitions on brokers chosen by the placement."""
    placements = place(candidates(state.image.brokers.values()), count, factor, state.rng)
    for replicas in placements:
        if not any(state.image.is_active(each) for each in replicas):
            raise ItemRejected(
                ErrorCode.INVALID_REPLICATION_FACTOR,
                f"Unable to replicate the partition {factor} time(s): All brokers are currently "
                "fenced or in controlled shutdown.",
            )
    return [
        _new_partition(state, topic_id, first + number, replicas)
        for number, replicas in enumerate(placements)
    ]


def _new_partition(
    state: ControllerState, topic_id: TopicId, index: int, replicas: Sequence[int]
) -> PartitionCreated:
    in_sync = tuple(each for each in replicas if state.image.is_active(each))
    return PartitionCreated(
        topic_id,
        index,
        tuple(replicas),
        in_sync,
        leader=in_sync[0],
        directories=tuple(directory_of(state, each) for each in replicas),
    )


def _refused(message: str) -> ItemRejected:
    return ItemRejected(ErrorCode.INVALID_REPLICA_ASSIGNMENT, message)
