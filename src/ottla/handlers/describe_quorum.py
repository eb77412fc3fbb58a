"""DescribeQuorum (key 55), versions 0 to 2.

v1 time of the last fetch of each voter · v2 their directories and listeners, error messages

The metadata log has one voter, the controller: none while there is no controller. Other brokers
read it in ZooKeeper, and how far they are is known to them only: there are no observers. As in
Kafka, a request is served only if it names that one partition and no other.
"""

from __future__ import annotations

from ottla.base.scheduling.steps import Steps
from ottla.handlers.serving.chunks import chunks
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.registry import handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.describe_quorum_request import DescribeQuorumRequest
from ottla.protocol.messages.describe_quorum_response import (
    DescribeQuorumResponse,
    Listener,
    Node,
    PartitionData,
    ReplicaState,
    TopicData,
)

METADATA_TOPIC = "__cluster_metadata"
METADATA_PARTITION = 0
NODES_FROM_VERSION = 2
PARTITION_BYTES = 32  # estimate of its encoded size, without messages
NO_CONTROLLER = -1
UNKNOWN = ErrorCode.UNKNOWN_TOPIC_OR_PARTITION


@handles(ApiKey.DESCRIBE_QUORUM)
def describe_quorum(
    request: DescribeQuorumRequest, context: Context
) -> Steps[DescribeQuorumResponse]:
    if not requests_metadata_log(request):
        return (yield from refused(request))
    log = TopicData(METADATA_TOPIC, [described_log(context)])
    nodes = controller_nodes(context) if context.version >= NODES_FROM_VERSION else []
    return DescribeQuorumResponse(topics=[log], nodes=nodes)


def requests_metadata_log(request: DescribeQuorumRequest) -> bool:
    if len(request.topics) != 1 or len(request.topics[0].partitions) != 1:
        return False
    topic = request.topics[0]
    asked = topic.topic_name, topic.partitions[0].partition_index
    return asked == (METADATA_TOPIC, METADATA_PARTITION)


def refused(request: DescribeQuorumRequest) -> Steps[DescribeQuorumResponse]:
    """Every requested partition gets the error, the known one too."""
    message = "This server does not host this topic-partition."
    topics = []
    for topic in request.topics:
        partitions: list[PartitionData] = []
        topics.append(TopicData(topic.topic_name, partitions))
        yield len(topic.topic_name)
        for chunk in chunks(topic.partitions):
            partitions += [PartitionData(each.partition_index, UNKNOWN, message) for each in chunk]
            yield (PARTITION_BYTES + len(message)) * len(chunk)
    return DescribeQuorumResponse(topics=topics)


def described_log(context: Context) -> PartitionData:
    parts = context.parts
    end_offset, now_ms = parts.metadata.offset, parts.clock.now_ms()
    voter = ReplicaState(
        replica_id=parts.controller_id,
        log_end_offset=end_offset,
        last_fetch_timestamp=now_ms,
        last_caught_up_timestamp=now_ms,
    )
    return PartitionData(
        partition_index=METADATA_PARTITION,
        leader_id=parts.controller_id,
        leader_epoch=parts.metadata.controller_epoch,
        high_watermark=end_offset,
        current_voters=[voter] if parts.controller_id != NO_CONTROLLER else [],
    )


def controller_nodes(context: Context) -> list[Node]:
    """The controller uses the listeners of the broker."""
    broker = context.parts.metadata.broker(context.parts.controller_id)
    if broker is None:
        return []
    listeners = [Listener(each.listener, each.host, each.port) for each in broker.endpoints]
    return [Node(broker.id, listeners)]
