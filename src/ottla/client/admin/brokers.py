"""The brokers that are registered with a cluster, also those that do not serve."""

from __future__ import annotations

from dataclasses import dataclass

from ottla.client.cluster.cluster import Cluster
from ottla.client.cluster.routed_requests import PartResult, send_until_successful
from ottla.client.connections.connection import ClientConnection
from ottla.client.errors import code_of
from ottla.config.addresses import Address
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.messages.describe_cluster_request import DescribeClusterRequest
from ottla.protocol.messages.describe_cluster_response import DescribeClusterResponse

FENCED_FROM = 2  # DescribeCluster


@dataclass(frozen=True)
class BrokerDescription:
    id: int
    address: Address
    rack: str | None
    is_fenced: bool  # registered, and neither a leader nor in sync: it does not run, or starts


def describe_brokers(cluster: Cluster) -> list[BrokerDescription]:
    """In order of their ids. Clusters before Kafka 4.0 leave out brokers that are fenced."""

    def request(connection: ClientConnection) -> DescribeClusterRequest:
        versions = connection.versions.get(ApiKey.DESCRIBE_CLUSTER, range(0))
        return DescribeClusterRequest(include_fenced_brokers=FENCED_FROM in versions)

    def problems(answer: DescribeClusterResponse) -> list[PartResult]:
        return [PartResult(code_of(answer.error_code), "DescribeCluster", answer.error_message)]

    answer = send_until_successful(cluster, request, problems, "DescribeCluster")
    return sorted(
        (
            BrokerDescription(each.broker_id, Address(each.host, each.port), each.rack,
                              each.is_fenced)
            for each in answer.brokers
        ),
        key=lambda broker: broker.id,
    )  # fmt: skip
