"""Moving replicas to other brokers, throttling that, and unregistering brokers that do not
return."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from ottla.base.ids import TopicPartition
from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.routed_requests import (
    PartResult,
    send_to_controller,
    send_until_successful,
)
from ottla.client.connections.connection import ClientConnection
from ottla.client.errors import ClientError, KafkaError, code_of, kafka_error
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.protocol.messages.list_partition_reassignments_request import (
    ListPartitionReassignmentsRequest,
)
from ottla.protocol.messages.unregister_broker_request import UnregisterBrokerRequest

TOPIC_RESOURCE, BROKER_RESOURCE = 2, 4
SET, DELETE = 0, 1
FACTOR_CHECKED_FROM = 1  # AlterPartitionReassignments
PARTITIONS_AT_ONCE = 1000  # a decision of the controller should take milliseconds


class FactorChanged(ClientError):
    """A reassignment that keeps the replication factor would have changed it."""


@dataclass(frozen=True)
class Reassignment:
    """An ongoing reassignment."""

    replicas: tuple[int, ...]  # old and new ones
    adding: tuple[int, ...]
    removing: tuple[int, ...]

    @property
    def target(self) -> tuple[int, ...]:
        return tuple(each for each in self.replicas if each not in self.removing)


def list_reassignments(cluster: Cluster) -> dict[TopicPartition, Reassignment]:
    """All ongoing reassignments."""

    def problems(answer: Any) -> Iterator[PartResult]:
        code = code_of(answer.error_code)
        yield PartResult(code, "ListPartitionReassignments", answer.error_message)

    request = ListPartitionReassignmentsRequest(cluster.settings.request_timeout_ms, None)
    answer = send_to_controller(cluster, request, problems, "ListPartitionReassignments")
    return {
        TopicPartition(topic.name, each.partition_index): Reassignment(
            tuple(each.replicas), tuple(each.adding_replicas), tuple(each.removing_replicas)
        )
        for topic in answer.topics
        for each in topic.partitions
    }


def alter_reassignments(
    cluster: Cluster, wanted: Mapping[TopicPartition, Sequence[int] | None]
) -> None:
    """Begin to move partitions to these replicas; None cancels an ongoing move; it is no error if
    that has ended already.

    FactorChanged if a partition would get another number of replicas, as when its replicas were
    read while it moved. Clusters before Kafka 4.1 do not check that.
    """
    items = sorted(wanted.items())
    for start in range(0, len(items), PARTITIONS_AT_ONCE):
        _alter(cluster, items[start : start + PARTITIONS_AT_ONCE])


def _alter(cluster: Cluster, wanted: Sequence[tuple[TopicPartition, Sequence[int] | None]]) -> None:
    topics: dict[str, list[ReassignablePartition]] = {}
    for at, replicas in wanted:
        topics.setdefault(at.topic, []).append(ReassignablePartition(at.partition, replicas))

    def request(connection: ClientConnection) -> AlterPartitionReassignmentsRequest:
        versions = connection.versions.get(ApiKey.ALTER_PARTITION_REASSIGNMENTS, range(0))
        return AlterPartitionReassignmentsRequest(
            cluster.settings.request_timeout_ms,
            allow_replication_factor_change=FACTOR_CHECKED_FROM not in versions,
            topics=[ReassignableTopic(name, partitions) for name, partitions in topics.items()],
        )

    def problems(answer: Any) -> Iterator[PartResult]:
        code = code_of(answer.error_code)
        yield PartResult(code, "AlterPartitionReassignments", answer.error_message)
        for topic in answer.responses:
            for each in topic.partitions:
                code = code_of(each.error_code)
                if code != ErrorCode.NO_REASSIGNMENT_IN_PROGRESS:
                    where = f"reassignment of {topic.name}-{each.partition_index}"
                    yield PartResult(code, where, each.error_message)

    try:
        send_to_controller(cluster, request, problems, "AlterPartitionReassignments")
    except KafkaError as error:
        if error.code == ErrorCode.INVALID_REPLICATION_FACTOR:
            raise FactorChanged(str(error)) from error
        raise


def alter_configs(
    cluster: Cluster, changes: Mapping[tuple[int, str], Mapping[str, str | None]]
) -> None:
    """Set settings of topics and brokers, named by kind and name; None removes one.

    Settings of a broker are sent to that broker, as Kafka's own client does; one that does not run
    is left out.
    """
    at_any = {key: value for key, value in changes.items() if key[0] != BROKER_RESOURCE}
    if at_any:
        send_until_successful(cluster, _alteration(at_any), _config_problems, "AlterConfigs")
    cluster.read_metadata([])
    for (kind, name), settings in changes.items():
        if kind == BROKER_RESOURCE and int(name) in cluster.topology.brokers:
            answer = cluster.ask_broker(int(name), _alteration({(kind, name): settings}))
            for code, where, message in _config_problems(answer):
                if code != ErrorCode.NONE:
                    raise kafka_error(code, where, message)


def _alteration(
    changes: Mapping[tuple[int, str], Mapping[str, str | None]],
) -> IncrementalAlterConfigsRequest:
    return IncrementalAlterConfigsRequest(
        [
            AlterConfigsResource(
                kind,
                name,
                [
                    AlterableConfig(setting, DELETE if value is None else SET, value)
                    for setting, value in settings.items()
                ],
            )
            for (kind, name), settings in changes.items()
        ]
    )


def _config_problems(answer: Any) -> Iterator[PartResult]:
    for each in answer.responses:
        where = f"settings of {each.resource_name}"
        yield PartResult(code_of(each.error_code), where, each.error_message)


def unregister_broker(cluster: Cluster, broker_id: int) -> None:
    """Forget a broker that does not run. One that is not registered is not an error."""

    def problems(answer: Any) -> Iterator[PartResult]:
        code = code_of(answer.error_code)
        if code != ErrorCode.BROKER_ID_NOT_REGISTERED:
            yield PartResult(code, f"unregistering broker {broker_id}", answer.error_message)

    request = UnregisterBrokerRequest(broker_id)
    send_to_controller(cluster, request, problems, "UnregisterBroker")
