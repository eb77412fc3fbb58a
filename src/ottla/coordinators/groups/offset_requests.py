"""OffsetCommit, TxnOffsetCommit, OffsetFetch, OffsetDelete: what a shard answers.

Promises  every function only reads; what should change is in the records it returns.
"""

from __future__ import annotations

from ottla.base.ids import NO_TOPIC_ID, TopicId
from ottla.coordinators.groups.classic.group import ClassicGroup
from ottla.coordinators.groups.group import CommitBy, Group
from ottla.coordinators.groups.offset_commits import (
    CommitRules,
    Decision,
    decide_commit,
    decide_delete,
    decide_transactional_commit,
    expiry_of,
)
from ottla.coordinators.groups.offset_fetching import fetch_all_offsets, fetch_offsets, no_offsets
from ottla.coordinators.groups.shard import GroupShard
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.offset_commit_request import OffsetCommitRequest
from ottla.protocol.messages.offset_commit_response import OffsetCommitResponse
from ottla.protocol.messages.offset_delete_request import OffsetDeleteRequest
from ottla.protocol.messages.offset_delete_response import OffsetDeleteResponse
from ottla.protocol.messages.offset_fetch_request import OffsetFetchRequestGroup
from ottla.protocol.messages.offset_fetch_response import OffsetFetchResponseGroup
from ottla.protocol.messages.txn_offset_commit_request import TxnOffsetCommitRequest
from ottla.protocol.messages.txn_offset_commit_response import TxnOffsetCommitResponse

MEMBER_EPOCHS_FROM = 9  # the version of OffsetCommit that knows them


def commit(
    shard: GroupShard, request: OffsetCommitRequest, version: int
) -> Decision[OffsetCommitResponse]:
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
        group.renew_session(member)  # a commit is a sign of life
    now_ms = shard.shared.now_ms()
    rules = CommitRules(
        request.group_id,
        check,
        shard.shared.config.offset_metadata_max_bytes,
        now_ms,
        expiry_of(request.retention_time_ms, now_ms),
    )
    return decide_commit(rules, request.topics)


def group_for_commit(shard: GroupShard, group_id: str, by: CommitBy, unknown: ErrorCode) -> Group:
    """The group; whoever is no member of one may commit to a group that only holds offsets."""
    group = shard.find(group_id)
    if group is not None:
        return group
    if by.epoch >= 0:
        raise BrokerError(unknown)
    return ClassicGroup(group_id, shard.shared)


def commit_transactional(
    shard: GroupShard, request: TxnOffsetCommitRequest, version: int
) -> Decision[TxnOffsetCommitResponse]:
    """Offsets that count when their transaction commits; the group fences old members (KIP-447)."""
    by = CommitBy(
        request.member_id,
        request.group_instance_id,
        request.generation_id,
        is_transactional=True,
        version=version,
    )
    group = group_for_commit(shard, request.group_id, by, ErrorCode.ILLEGAL_GENERATION)
    try:
        check = group.check_commit(by)
        topics = [(topic, topic_id_of(shard, topic.name)) for topic in request.topics]
        if check is not None and any(topic_id == NO_TOPIC_ID for _, topic_id in topics):
            raise BrokerError(ErrorCode.ILLEGAL_GENERATION)
        config = shard.shared.config
        rules = CommitRules(
            request.group_id, check, config.offset_metadata_max_bytes, shard.shared.now_ms()
        )
        return decide_transactional_commit(rules, topics)
    except BrokerError as error:
        if error.code == ErrorCode.STALE_MEMBER_EPOCH:  # producers know no member epochs
            raise BrokerError(ErrorCode.ILLEGAL_GENERATION, error.message) from error
        raise


def topic_id_of(shard: GroupShard, name: str) -> TopicId:
    topic = shard.shared.image.topic(name)
    return NO_TOPIC_ID if topic is None else topic.id


def fetch(
    shard: GroupShard, wanted: OffsetFetchRequestGroup, require_stable: bool
) -> OffsetFetchResponseGroup:
    group = shard.find(wanted.group_id)
    if group is None:
        topics = [] if wanted.topics is None else no_offsets(wanted.topics)
        return OffsetFetchResponseGroup(wanted.group_id, topics)
    group.check_offset_fetch(wanted.member_id, wanted.member_epoch)
    if wanted.topics is None:
        topics = fetch_all_offsets(shard.offsets, wanted.group_id, require_stable)
    else:
        topics = fetch_offsets(shard.offsets, wanted.group_id, wanted.topics, require_stable)
    return OffsetFetchResponseGroup(wanted.group_id, topics)


def delete(shard: GroupShard, request: OffsetDeleteRequest) -> Decision[OffsetDeleteResponse]:
    group = shard.find(request.group_id)
    if group is None:
        raise BrokerError(ErrorCode.GROUP_ID_NOT_FOUND)
    return decide_delete(group, shard.offsets, request.topics)
