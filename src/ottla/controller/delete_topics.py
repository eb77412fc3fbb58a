"""DeleteTopics: by name, or by id since version 6; each topic at most once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from ottla.base.ids import NO_TOPIC_ID, TopicId
from ottla.controller.decision import (
    Charge,
    Decision,
    IsAllowed,
    ItemRejected,
    allow_all,
    check_count,
    no_quota,
)
from ottla.controller.state import ControllerState
from ottla.metadata.entities import Topic
from ottla.metadata.records import TopicDeleted
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from ottla.protocol.messages.delete_topics_response import (
    DeletableTopicResult,
    DeleteTopicsResponse,
)

_UNKNOWN = "This server does not host this topic-partition."
_UNKNOWN_ID = "This server does not host this topic ID."
_FORBIDDEN = "Topic authorization failed."


def decide_delete_topics(
    state: ControllerState,
    request: DeleteTopicsRequest,
    version: int,
    *,
    may_describe: IsAllowed = allow_all,
    may_delete: IsAllowed = allow_all,
    charge: Charge = no_quota,
) -> Decision[DeleteTopicsResponse]:
    """BrokerError if deleting topics is disabled."""
    if not state.config.delete_topic_enable:
        disabled = ErrorCode.TOPIC_DELETION_DISABLED if version >= 3 else ErrorCode.INVALID_REQUEST
        raise BrokerError(disabled, "Topic deletion is disabled.")
    check_count(len(request.topic_names) + len(request.topics))
    deletion = _Deletion(state, may_describe, may_delete, charge)
    results = list(deletion.results(request))
    return Decision(tuple(deletion.records), DeleteTopicsResponse(responses=results))


class _Deletion:
    def __init__(
        self, state: ControllerState, may_describe: IsAllowed, may_delete: IsAllowed, charge: Charge
    ) -> None:
        self._image = state.image
        self._may_describe = may_describe
        self._may_delete = may_delete
        self._charge = charge
        self.records: list[TopicDeleted] = []

    def results(self, request: DeleteTopicsRequest) -> Iterator[DeletableTopicResult]:
        named = [DeleteTopicState(name) for name in request.topic_names] + list(request.topics)
        counts = Counter((each.name, TopicId(each.topic_id)) for each in named)
        ids = {topic_id for name, topic_id in counts if name is None}
        ids_of_names = {self._id_of(name) for name, _ in counts if name is not None}
        for (name, topic_id), count in counts.items():
            try:
                if name is not None:
                    yield self._by_name(name, topic_id, count, ids)
                elif topic_id not in ids_of_names:  # otherwise the result is reported with the name
                    yield self._by_id(topic_id, count)
            except BrokerError as refused:
                message = refused.message or None
                yield DeletableTopicResult(name, topic_id, refused.code, message)

    def _id_of(self, name: str) -> TopicId | None:
        topic = self._image.topic(name)
        is_authorized = topic is not None and self._may_describe(name) and self._may_delete(name)
        return topic.id if topic is not None and is_authorized else None

    def _by_id(self, topic_id: TopicId, count: int) -> DeletableTopicResult:
        if topic_id == NO_TOPIC_ID:
            raise _invalid("Neither topic name nor id were specified.")
        if count > 1:
            raise _invalid("Duplicate topic id.")
        topic = self._image.topic_by_id(topic_id)
        if topic is None:
            raise ItemRejected(ErrorCode.UNKNOWN_TOPIC_ID, _UNKNOWN_ID)
        if not self._may_delete(topic.name):
            shown = topic.name if self._may_describe(topic.name) else None
            code = ErrorCode.TOPIC_AUTHORIZATION_FAILED
            return DeletableTopicResult(shown, topic_id, code, _FORBIDDEN)
        return self._delete(topic)

    def _by_name(
        self, name: str, topic_id: TopicId, count: int, ids: set[TopicId]
    ) -> DeletableTopicResult:
        if topic_id != NO_TOPIC_ID:
            raise _invalid("You may not specify both topic name and topic id.")
        if count > 1:
            raise _invalid("Duplicate topic name.")
        if not self._may_describe(name):
            raise ItemRejected(ErrorCode.TOPIC_AUTHORIZATION_FAILED, _FORBIDDEN)
        topic = self._image.topic(name)
        if topic is None:
            raise ItemRejected(ErrorCode.UNKNOWN_TOPIC_OR_PARTITION, _UNKNOWN)
        if not self._may_delete(name):
            raise ItemRejected(ErrorCode.TOPIC_AUTHORIZATION_FAILED, _FORBIDDEN)
        if topic.id in ids:
            what = "The provided topic name maps to an ID that was already supplied."
            return DeletableTopicResult(name, topic.id, ErrorCode.INVALID_REQUEST, what)
        return self._delete(topic)

    def _delete(self, topic: Topic) -> DeletableTopicResult:
        try:
            self._charge(len(topic.partitions))
        except BrokerError as refused:
            return DeletableTopicResult(topic.name, topic.id, refused.code, refused.message or None)
        self.records.append(TopicDeleted(topic.id))
        return DeletableTopicResult(topic.name, topic.id)


def _invalid(message: str) -> ItemRejected:
    return ItemRejected(ErrorCode.INVALID_REQUEST, message)
