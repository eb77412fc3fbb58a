"""CreatePartitions: adds partitions to existing topics."""

from __future__ import annotations

from collections import Counter

from ottla.controller.assignments import check_replicas, chosen_partition, placed_partitions
from ottla.controller.decision import (
    Charge,
    Decision,
    IsAllowed,
    ItemRejected,
    allow_all,
    check_count,
    no_quota,
    refuse_too_many,
)
from ottla.controller.state import ControllerState
from ottla.metadata.entities import Topic
from ottla.metadata.records import PartitionCreated
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.create_partitions_request import (
    CreatePartitionsRequest,
    CreatePartitionsTopic,
)
from ottla.protocol.messages.create_partitions_response import (
    CreatePartitionsResponse,
    CreatePartitionsTopicResult,
)


def decide_create_partitions(
    state: ControllerState,
    request: CreatePartitionsRequest,
    *,
    may_alter: IsAllowed = allow_all,
    charge: Charge = no_quota,
) -> Decision[CreatePartitionsResponse]:
    check_count(len(request.topics))
    counts = Counter(topic.name for topic in request.topics)
    records: list[PartitionCreated] = []
    results = {}
    for topic in request.topics:
        try:
            if counts[topic.name] > 1:
                raise ItemRejected(ErrorCode.INVALID_REQUEST, "Duplicate topic name.")
            if not may_alter(topic.name):
                raise ItemRejected(ErrorCode.TOPIC_AUTHORIZATION_FAILED)
            records += _new_partitions(state, topic, len(records), charge)
            results[topic.name] = CreatePartitionsTopicResult(topic.name)
        except BrokerError as refused:
            results[topic.name] = CreatePartitionsTopicResult(
                topic.name, refused.code, refused.message or None
            )
    answer = CreatePartitionsResponse(results=list(results.values()))
    return Decision(() if request.validate_only else tuple(records), answer)


def _new_partitions(
    state: ControllerState, wanted: CreatePartitionsTopic, others: int, charge: Charge
) -> list[PartitionCreated]:
    topic = state.image.topic(wanted.name)
    if topic is None:
        raise ItemRejected(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
    additional = _additional(topic, wanted)
    refuse_too_many(others + additional)
    limit = state.config.ottla_partitions_max
    if state.image.partition_count + others + additional > limit:
        what = f"The cluster may have {limit} partitions (ottla.partitions.max)."
        raise ItemRejected(ErrorCode.POLICY_VIOLATION, what)
    charge(additional)
    first, factor = len(topic.partitions), topic.replication_factor
    if wanted.assignments is None:
        return placed_partitions(state, topic.id, first, additional, factor)
    for assignment in wanted.assignments:
        check_replicas(state, assignment.broker_ids, factor)
    return [
        chosen_partition(state, topic.id, first + number, assignment.broker_ids)
        for number, assignment in enumerate(wanted.assignments)
    ]


def _additional(topic: Topic, wanted: CreatePartitionsTopic) -> int:
    count = len(topic.partitions)
    if wanted.count == count:
        raise ItemRejected(ErrorCode.INVALID_PARTITIONS, f"Topic already has {count} partition(s).")
    if wanted.count < count:
        raise ItemRejected(
            ErrorCode.INVALID_PARTITIONS,
            f"The topic {topic.name} currently has {count} partition(s); {wanted.count} would not "
            "be an increase.",
        )
    additional = wanted.count - count
    if wanted.assignments is not None and len(wanted.assignments) != additional:
        raise ItemRejected(
            ErrorCode.INVALID_REPLICA_ASSIGNMENT,
            f"Attempted to add {additional} additional partition(s), but only "
            f"{len(wanted.assignments)} assignment(s) were specified.",
        )
    return additional
