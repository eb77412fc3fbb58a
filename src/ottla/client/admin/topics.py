"""Creating and deleting topics, reading their settings, deleting records."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.base.uuids import ZERO_UUID
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.retries import Retries
from ottla.client.cluster.routed_requests import (
    PartResult,
    send_to_controller,
    send_to_leaders,
    send_until_successful,
)
from ottla.client.connections.connection import ClientConnection
from ottla.client.errors import code_of
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.protocol.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from ottla.protocol.messages.delete_records_response import DeleteRecordsResponse
from ottla.protocol.messages.delete_topics_request import DeleteTopicsRequest, DeleteTopicState
from ottla.protocol.messages.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)

BROKER_DEFAULT = -1
TOPIC_RESOURCE = 2
STATES_FROM = 6  # DeleteTopics


@dataclass(frozen=True)
class NewTopic:
    name: str
    partitions: int = BROKER_DEFAULT
    replication_factor: int = BROKER_DEFAULT
    configs: Mapping[str, str] = field(default_factory=dict)


def create_topics(cluster: Cluster, topics: Iterable[NewTopic], *, may_exist: bool = False) -> None:
    """With `may_exist`, a topic that exists is not an error. Returns once all topics have leaders:
    a cluster needs a moment to elect them and to update the metadata of all brokers."""
    wanted = list(topics)
    request = CreateTopicsRequest(
        [
            CreatableTopic(
                each.name,
                each.partitions,
                each.replication_factor,
                configs=[CreatableTopicConfig(*item) for item in each.configs.items()],
            )
            for each in wanted
        ],
        timeout_ms=cluster.settings.request_timeout_ms,
    )
    passing = {ErrorCode.TOPIC_ALREADY_EXISTS} if may_exist else set[ErrorCode]()
    problems = _problems("CreateTopics", "topics", passing)
    answer = send_to_controller(cluster, request, problems, "CreateTopics")
    _wait_for_leaders(cluster, {each.name: each.topic_id for each in answer.topics})


def _wait_for_leaders(cluster: Cluster, topic_ids: Mapping[str, bytes]) -> None:
    """Wait until the topics with these ids have leaders: brokers may still know a topic of the same
    name that was deleted a moment ago. An id of zeros stands for any."""
    retries = Retries("CreateTopics", cluster.settings)
    while True:
        found = cluster.describe_topics(list(topic_ids))
        are_new = all(topic_ids[name] in (ZERO_UUID, found[name].topic_id) for name in found)
        leaders = [each.leader for topic in found.values() for each in topic.partitions]
        if len(found) == len(topic_ids) and are_new and min(leaders, default=0) >= 0:
            retries.note_success()
            return
        retries.pause("some brokers do not know the new topics, or these have no leaders yet")


def delete_topics(cluster: Cluster, names: Iterable[str], *, may_be_missing: bool = False) -> None:
    wanted = list(names)
    timeout_ms = cluster.settings.request_timeout_ms

    def build(connection: ClientConnection) -> DeleteTopicsRequest:
        if connection.version_of(ApiKey.DELETE_TOPICS) < STATES_FROM:
            return DeleteTopicsRequest(topic_names=wanted, timeout_ms=timeout_ms)
        return DeleteTopicsRequest([DeleteTopicState(name) for name in wanted], (), timeout_ms)

    passing = {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION} if may_be_missing else set[ErrorCode]()
    failing = set[ErrorCode]() if may_be_missing else {ErrorCode.UNKNOWN_TOPIC_OR_PARTITION}
    problems = _problems("DeleteTopics", "responses", passing)
    send_to_controller(cluster, build, problems, "DeleteTopics", failing=failing)
    for name in wanted:
        cluster.topology.forget_topic(name)


def _problems(
    api: str, results: str, passing: set[ErrorCode]
) -> Callable[[Any], Iterator[PartResult]]:
    def problems(answer: Any) -> Iterator[PartResult]:
        for each in getattr(answer, results):
            code = code_of(each.error_code)
            if code not in passing:
                yield PartResult(code, f"{api} of {each.name}", each.error_message)

    return problems


def topic_configs(cluster: Cluster, topics: Iterable[str]) -> dict[str, dict[str, str | None]]:
    """The effective settings of these topics, including defaults; secrets are None."""
    resources = [DescribeConfigsResource(TOPIC_RESOURCE, name, None) for name in topics]

    def problems(answer: Any) -> Iterator[PartResult]:
        for each in answer.results:
            where = f"DescribeConfigs of {each.resource_name}"
            yield PartResult(code_of(each.error_code), where, each.error_message)

    answer = send_until_successful(
        cluster, DescribeConfigsRequest(resources), problems, "DescribeConfigs"
    )
    return {
        each.resource_name: {config.name: config.value for config in each.configs}
        for each in answer.results
    }


def delete_records(cluster: Cluster, before: Mapping[TopicPartition, int]) -> None:
    """Delete the records before these offsets."""

    def build(share: Mapping[TopicPartition, int]) -> DeleteRecordsRequest:
        topics: dict[str, list[DeleteRecordsPartition]] = {}
        for at, offset in share.items():
            part = DeleteRecordsPartition(at.partition, offset)
            topics.setdefault(at.topic, []).append(part)
        wanted = [DeleteRecordsTopic(name, parts) for name, parts in topics.items()]
        return DeleteRecordsRequest(wanted, cluster.settings.request_timeout_ms)

    def read(answer: DeleteRecordsResponse) -> Iterator[tuple[TopicPartition, PartResult, None]]:
        for topic in answer.topics:
            for part in topic.partitions:
                at = TopicPartition(topic.name, part.partition_index)
                yield at, PartResult(code_of(part.error_code), f"DeleteRecords of {at}"), None

    send_to_leaders(cluster, before, build, read)
