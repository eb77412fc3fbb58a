"""OffsetCommit, TxnOffsetCommit, OffsetFetch, OffsetDelete, for one shard.

Promises  every function only reads; changes are in the records it returns.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager

from ottla.base.ids import NO_TOPIC_ID, TopicId
from ottla.base.scheduling.steps import Steps
from ottla.coordinators.groups.classic.group import ClassicGroup
from ottla.coordinators.groups.commit_drafts import CommitDraft, drafting_transactional_commit
from ottla.coordinators.groups.committed_offsets import CommittedOffsets, OffsetName
from ottla.coordinators.groups.group import CommitBy, Group
from ottla.coordinators.groups.offset_commits import (
    CommitRules,
    WriteRecords,
    decide_commit,
    decide_transactional_commit,
    expiry_of,
    forgetting,
)
from ottla.coordinators.groups.offset_fetching import fetching, fetching_all, snapshot
from ottla.coordinators.groups.shard import GroupShard
from ottla.coordinators.records import CoordinatorResult
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.offset_commit_request import OffsetCommitRequest
from ottla.protocol.messages.offset_commit_response import OffsetCommitResponse
from ottla.protocol.messages.offset_delete_request import OffsetDeleteRequest
from ottla.protocol.messages.offset_delete_response import (
    OffsetDeleteResponse,
    OffsetDeleteResponsePartition,
    OffsetDeleteResponseTopic,
)
from ottla.protocol.messages.offset_fetch_request import OffsetFetchRequestGroup
from ottla.protocol.messages.offset_fetch_response import OffsetFetchResponseGroup
from ottla.protocol.messages.txn_offset_commit_request import TxnOffsetCommitRequest
from ottla.protocol.messages.txn_offset_commit_response import TxnOffsetCommitResponse

MEMBER_EPOCHS_FROM = 9  # version of OffsetCommit with member epochs


def commit(
    shard: GroupShard, request: OffsetCommitRequest, version: int
) -> CoordinatorResult[OffsetCommitResponse]:
    return decide_commit(commit_rules(shard, request, version), request.topics)


def commit_rules(shard: GroupShard, request: OffsetCommitRequest, version: int) -> CommitRules:
    """BrokerError if this member may not commit."""
    by = CommitBy(
        request.member_id,
        request.group_instance_id,
        request.generation_id_or_member_epoch,
        is_transactional=False,
        version=version,
    )
    is_new_api = version >= MEMBER_EPOCHS_FROM
    unknown = ErrorCode.GROUP_ID_NOT_FOUND if is_new_api else ErrorCode.ILLEGAL_GENERATION
    group = group_for_commit(shard, request.group_id, by, unknown)
    check = group.check_commit(by)
    if isinstance(group, ClassicGroup) and (member := group.members.get(by.member_id)) is not None:
        group.membership.renew_session(member)  # a commit renews the session
    now_ms = shard.context.now_ms()
    return CommitRules(
        request.group_id,
        check,
        shard.context.config.offset_metadata_max_bytes,
        now_ms,
        expiry_of(request.retention_time_ms, now_ms),
        only_known(shard),
    )


def only_known(shard: GroupShard) -> CommittedOffsets | None:
    """The offsets that may still be overwritten, if the limit of offsets is reached."""
    is_full = shard.context.usage.offsets >= shard.context.config.ottla_offsets_max
    return shard.offsets if is_full else None


def group_for_commit(shard: GroupShard, group_id: str, by: CommitBy, unknown: ErrorCode) -> Group:
    """The group; a client that is not a member may commit to a group that only holds offsets."""
    group = shard.find(group_id)
    if group is not None:
        return group
    if by.epoch >= 0:
        raise BrokerError(unknown)
    return ClassicGroup(group_id, shard.context)


def commit_transactional(
    shard: GroupShard, request: TxnOffsetCommitRequest, version: int
) -> CoordinatorResult[TxnOffsetCommitResponse]:
    """Offsets that take effect when their transaction commits; the group fences old members
    (KIP-447)."""
    topics = [(topic, topic_id_of(shard, topic.name)) for topic in request.topics]
    with producer_errors():
        rules = transactional_rules(shard, request, version)
        if rules.check is not None and any(topic_id == NO_TOPIC_ID for _, topic_id in topics):
            raise BrokerError(ErrorCode.ILLEGAL_GENERATION)
        return decide_transactional_commit(rules, topics)


@contextmanager
def producer_errors() -> Iterator[None]:
    """Producers do not support member epochs."""
    try:
        yield
    except BrokerError as error:
        if error.code == ErrorCode.STALE_MEMBER_EPOCH:
            raise BrokerError(ErrorCode.ILLEGAL_GENERATION, error.message) from error
        raise


def drafting_commit_transactional(
    request: TxnOffsetCommitRequest, topic_ids: Mapping[str, TopicId], draft: CommitDraft
) -> Steps[TxnOffsetCommitResponse]:
    """The same for many offsets."""
    with producer_errors():
        topics = []
        for topic in request.topics:
            topics.append((topic, topic_ids[topic.name]))
            yield 0
        return (yield from drafting_transactional_commit(draft, topics))


def transactional_rules(
    shard: GroupShard, request: TxnOffsetCommitRequest, version: int
) -> CommitRules:
    """BrokerError if this member may not commit."""
    by = CommitBy(
        request.member_id,
        request.group_instance_id,
        request.generation_id,
        is_transactional=True,
        version=version,
    )
    group = group_for_commit(shard, request.group_id, by, ErrorCode.ILLEGAL_GENERATION)
    with producer_errors():
        check = group.check_commit(by)
    config = shard.context.config
    check_transaction(shard, request)
    return CommitRules(
        request.group_id,
        check,
        config.offset_metadata_max_bytes,
        shard.context.now_ms(),
        only_known=only_known(shard),
    )


def check_transaction(shard: GroupShard, request: TxnOffsetCommitRequest) -> None:
    """BrokerError if the transaction would have more offsets than can be applied at once."""
    offsets = shard.offsets
    topics_max = shard.context.config.ottla_transaction_offset_topics_max
    names = (each.name for each in request.topics)
    if (
        len(request.topics) > 2 * topics_max  # too many to be counted in one step
        or offsets.count_pending_topics(request.producer_id, request.group_id, names) > topics_max
        or has_too_many_offsets(shard, request)
    ):
        raise BrokerError(ErrorCode.INVALID_COMMIT_OFFSET_SIZE)


def has_too_many_offsets(shard: GroupShard, request: TxnOffsetCommitRequest) -> bool:
    """Whether its transaction would have more offsets than it may; those that it has already count
    once."""
    offsets, offsets_max = shard.offsets, shard.context.config.ottla_transaction_offsets_max
    room = offsets_max - offsets.count_pending(request.producer_id)
    count = sum(len(topic.partitions) for topic in request.topics)
    if count <= room:
        return False
    if count > offsets_max:  # also if some are repeated: they are not counted
        return True
    names = (
        (topic.name, each.partition_index) for topic in request.topics for each in topic.partitions
    )
    return offsets.count_unpending(request.producer_id, request.group_id, names) > room


def topic_id_of(shard: GroupShard, name: str) -> TopicId:
    topic = shard.context.image.topic(name)
    return NO_TOPIC_ID if topic is None else topic.id


def fetch(
    shard: GroupShard,
    wanted: OffsetFetchRequestGroup,
    require_stable: bool,
    *,
    at_once: bool = False,
) -> Steps[OffsetFetchResponseGroup]:
    """An unknown group has no offsets."""
    group_id, offsets = wanted.group_id, shard.offsets
    group = shard.find(group_id)
    if group is not None:
        group.check_offset_fetch(wanted.member_id, wanted.member_epoch)
    if wanted.topics is None:
        topics = yield from fetching_all(offsets.snapshot(group_id), require_stable)
    else:
        known = offsets.current(group_id) if at_once else snapshot(offsets, group_id, wanted.topics)
        topics = yield from fetching(known, wanted.topics, require_stable)
    return OffsetFetchResponseGroup(group_id, topics)


def delete(
    shard: GroupShard, request: OffsetDeleteRequest, write: WriteRecords
) -> Steps[OffsetDeleteResponse]:
    """Delete single offsets, in slices, except of topics that the group is subscribed to."""
    group = existing_for_delete(shard, request.group_id)
    if isinstance(group, ClassicGroup):
        yield from group.learn_subscriptions()
    answers = []
    for topic in request.topics:
        group = existing_for_delete(shard, request.group_id)
        is_used = group.is_subscribed(topic.name)
        code = ErrorCode.GROUP_SUBSCRIBED_TO_TOPIC if is_used else ErrorCode.NONE
        partitions = []
        for each in topic.partitions:
            partitions.append(OffsetDeleteResponsePartition(each.partition_index, code))
            yield 0
        answers.append(OffsetDeleteResponseTopic(topic.name, partitions))
        if not is_used:
            names = (
                OffsetName(request.group_id, topic.name, each.partition_index)
                for each in topic.partitions
            )
            yield from forgetting(shard.offsets, names, write)
    return OffsetDeleteResponse(topics=answers)


def existing_for_delete(shard: GroupShard, group_id: str) -> Group:
    group = shard.find(group_id)
    if group is None:
        raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND)
    group.check_offset_delete()
    return group
