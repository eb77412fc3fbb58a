"""DescribeCluster (key 60), versions 0 to 2.

v1 kind of endpoint, of which only brokers are supported here · v2 fenced brokers
"""

from __future__ import annotations

from ottla.handlers.administration.permissions import CLUSTER_OPERATIONS, NOT_REQUESTED
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.describe_cluster_request import DescribeClusterRequest
from ottla.protocol.messages.describe_cluster_response import (
    DescribeClusterBroker,
    DescribeClusterResponse,
)

BROKERS = 1
CONTROLLERS = 2


@handles(ApiKey.DESCRIBE_CLUSTER)
def describe_cluster(request: DescribeClusterRequest, context: Context) -> DescribeClusterResponse:
    check_endpoint_type(request.endpoint_type)
    with_operations = request.include_cluster_authorized_operations
    return DescribeClusterResponse(
        cluster_id=context.parts.metadata.cluster_id,
        controller_id=context.parts.controller_id,
        brokers=described_brokers(context, request.include_fenced_brokers),
        cluster_authorized_operations=CLUSTER_OPERATIONS if with_operations else NOT_REQUESTED,
    )


def check_endpoint_type(endpoint_type: int) -> None:
    if endpoint_type == CONTROLLERS:
        raise BrokerError(
            ErrorCode.MISMATCHED_ENDPOINT_TYPE,
            "The request was sent to an endpoint of type BROKER, but we wanted an endpoint of type "
            "CONTROLLER",
        )
    if endpoint_type != BROKERS:
        raise BrokerError(
            ErrorCode.UNSUPPORTED_ENDPOINT_TYPE, f"Unsupported endpoint type {endpoint_type}"
        )


def described_brokers(context: Context, with_fenced: bool) -> list[DescribeClusterBroker]:
    found = []
    for broker in context.parts.metadata.brokers.values():
        endpoint = broker.endpoint(context.peer.listener)
        if endpoint is not None and (with_fenced or not broker.is_fenced):
            found.append(
                DescribeClusterBroker(
                    broker.id, endpoint.host, endpoint.port, broker.rack, broker.is_fenced
                )
            )
    return found
