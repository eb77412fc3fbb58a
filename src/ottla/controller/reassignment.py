"""AlterPartitionReassignments and ListPartitionReassignments: moving replicas to other brokers.

A reassignment has two steps. The new replicas join the old ones, marked as adding, and the old ones
are marked as removing. When all new ones are in sync (see `elections.py`), the old ones are
dropped. Cancelling restores the previous replicas.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from ottla.base.scheduling.steps import Steps
from ottla.controller.assignments import check_replicas
from ottla.controller.decision import Decision, ItemRejected, check_count, quoted
from ottla.controller.elections import Election, PartitionTarget, decide_change, rules_for
from ottla.controller.state import ControllerState
from ottla.metadata.entities import PartitionRegistration, Topic
from ottla.metadata.image import Image
from ottla.metadata.records import PartitionChanged
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
)
from ottla.protocol.messages.alter_partition_reassignments_response import (
    AlterPartitionReassignmentsResponse,
    ReassignablePartitionResponse,
    ReassignableTopicResponse,
)
from ottla.protocol.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
)
from ottla.protocol.messages.list_partition_reassignments_response import (
    ListPartitionReassignmentsResponse,
    OngoingPartitionReassignment,
    OngoingTopicReassignment,
)

TOPIC_BYTES, PARTITION_BYTES = 8, 16


def decide_alter_partition_reassignments(
    state: ControllerState, request: AlterPartitionReassignmentsRequest
) -> Decision[AlterPartitionReassignmentsResponse]:
    if not request.topics:
        return Decision((), AlterPartitionReassignmentsResponse())
    check_count(len(request.topics) + sum(len(each.partitions) for each in request.topics))
    records: dict[tuple[str, int], PartitionChanged | None] = {}
    topics = []
    for asked in request.topics:
        results = []
        for target in asked.partitions:
            code, message = ErrorCode.NONE, None
            try:
                key = asked.name, target.partition_index
                may_change_factor = request.allow_replication_factor_change
                records[key] = _reassign(state, asked.name, target, may_change_factor)
            except BrokerError as refused:
                code, message = refused.code, refused.message or None
            results.append(ReassignablePartitionResponse(target.partition_index, code, message))
        topics.append(ReassignableTopicResponse(asked.name, results))
    answer = AlterPartitionReassignmentsResponse(
        allow_replication_factor_change=request.allow_replication_factor_change,
        error_message=None,
        responses=topics,
    )
    return Decision(tuple(each for each in records.values() if each is not None), answer)


def _reassign(
    state: ControllerState, name: str, target: ReassignablePartition, may_change_factor: bool
) -> PartitionChanged | None:
    topic, index = state.image.topic(name), target.partition_index
    if topic is None:
        what = f"Unable to find a topic named {quoted(name)}."
        raise ItemRejected(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, what)
    if not 0 <= index < len(topic.partitions):
        what = f"Unable to find partition {name}:{index}."
        raise ItemRejected(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, what)
    partition = topic.partitions[index]
    if target.replicas is None:
        wanted = _cancelled(state, topic, index, partition)
    else:
        check_replicas(state, target.replicas)
        if not may_change_factor:
            _check_factor(partition, target.replicas)
        wanted = _moved(partition, target.replicas)
    rules = rules_for(state, topic, partition)
    return decide_change(topic.id, index, partition, wanted, rules)


def _moved(partition: PartitionRegistration, replicas: Sequence[int]) -> PartitionTarget:
    wanted = PartitionTarget.as_is(partition)
    removing = tuple(sorted(set(partition.replicas) - set(replicas)))
    adding = tuple(sorted(set(replicas) - set(partition.replicas)))
    wanted.replicas = (*replicas, *removing)
    # What an earlier reassignment adds or removes stays marked unless this one adds or removes: the
    # same reassignment again must not end before its new replicas are in sync. A replica that is no
    # longer added is not waited for: the reassignment would never end.
    wanted.removing = removing or tuple(each for each in wanted.removing if each not in replicas)
    wanted.adding = adding or tuple(each for each in wanted.adding if each in replicas)
    return wanted


def _check_factor(partition: PartitionRegistration, replicas: Sequence[int]) -> None:
    """Compared with the replicas after the ongoing reassignment."""
    before = len(set(partition.replicas) - set(partition.removing_replicas))
    if before != len(replicas):
        what = f"The replication factor is changed from {before} to {len(replicas)}"
        raise ItemRejected(ErrorCode.INVALID_REPLICATION_FACTOR, what)


def _cancelled(
    state: ControllerState, topic: Topic, index: int, partition: PartitionRegistration
) -> PartitionTarget:
    if not partition.is_reassigning:
        raise ItemRejected(ErrorCode.NO_REASSIGNMENT_IN_PROGRESS)
    adding = partition.adding_replicas
    wanted = PartitionTarget.as_is(partition)
    wanted.replicas = tuple(each for each in partition.replicas if each not in adding)
    wanted.in_sync = tuple(each for each in partition.in_sync_replicas if each not in adding)
    wanted.adding = wanted.removing = ()
    may_be_unclean = state.may_elect_uncleanly(topic)
    if not wanted.in_sync:
        # Only new replicas are in sync: cancelling would elect a leader that lacks records.
        if not may_be_unclean:
            raise ItemRejected(
                ErrorCode.INVALID_REPLICA_ASSIGNMENT,
                f"Unable to revert partition assignment for {topic.name}:{index} because it would "
                "require an unclean leader election.",
            )
        wanted.in_sync = wanted.replicas[:1]
    if may_be_unclean:
        wanted.election = Election.UNCLEAN
    return wanted


def list_partition_reassignments(
    image: Image, request: ListPartitionReassignmentsRequest
) -> Steps[ListPartitionReassignmentsResponse]:
    topics = []
    if request.topics is None:
        wanted: Iterable[tuple[str, Iterable[int] | None]] = ((n, None) for n in list(image.topics))
    else:
        wanted = ((asked.name, asked.partition_indexes) for asked in request.topics)
    for name, indexes in wanted:
        partitions = yield from _ongoing(image, name, indexes)
        if partitions:
            topics.append(OngoingTopicReassignment(name, partitions))
        yield TOPIC_BYTES + len(name) if partitions else 0
    return ListPartitionReassignmentsResponse(error_message=None, topics=topics)


def _ongoing(
    image: Image, name: str, indexes: Iterable[int] | None
) -> Steps[list[OngoingPartitionReassignment]]:
    """The reassignments of these partitions, or of all partitions of the topic."""
    topic, found = image.topic(name), []
    if topic is None:
        return []
    for index in range(len(topic.partitions)) if indexes is None else indexes:
        partition = image.partition(name, index)
        grown = 0
        if partition is not None and partition.is_reassigning:
            moving = (partition.replicas, partition.adding_replicas, partition.removing_replicas)
            found.append(OngoingPartitionReassignment(index, *moving))
            grown = PARTITION_BYTES + sum(4 * len(each) for each in moving)
        yield grown
    return found
