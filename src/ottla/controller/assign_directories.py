"""AssignReplicasToDirs: a broker reports in which of its directories partitions are.

Sent after a move between directories, or if logs were found in another directory than expected. A
broker can lead a partition only if its directory is online. A replica with damaged records is
reported as lost: it is neither in sync nor eligible until it was copied again. When it is found
again, a new leader epoch begins: a fetch that it has sent before it removed the damaged records,
and that its leader still holds, must not count as progress.
"""

from __future__ import annotations

from ottla.base.ids import TopicId
from ottla.controller.decision import Decision
from ottla.controller.elections import Election, PartitionTarget, decide_change, rules_for
from ottla.controller.state import ControllerState
from ottla.metadata.entities import BrokerRegistration, Topic
from ottla.metadata.records import LOST_DIRECTORY, PartitionChanged
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages import assign_replicas_to_dirs_response as response
from ottla.protocol.messages.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest


def decide_assign_directories(
    state: ControllerState, request: AssignReplicasToDirsRequest
) -> Decision[response.AssignReplicasToDirsResponse]:
    state.check_broker_epoch(request.broker_id, request.broker_epoch)
    broker = state.image.brokers[request.broker_id]
    records: dict[tuple[TopicId, int], PartitionChanged | None] = {}
    directories = []
    for directory in request.directories:
        topics = []
        for asked in directory.topics:
            topic_id = TopicId(asked.topic_id)
            results = []
            for partition in asked.partitions:
                index = partition.partition_index
                code = _fault(state, broker, topic_id, index, directory.id)
                if code is ErrorCode.NONE:
                    topic = state.image.topic_by_id(topic_id)
                    assert topic is not None
                    records[topic_id, index] = _assign(state, broker, topic, index, directory.id)
                results.append(response.PartitionData(index, code))
            topics.append(response.TopicData(topic_id, results))
        directories.append(response.DirectoryData(directory.id, topics))
    answer = response.AssignReplicasToDirsResponse(directories=directories)
    return Decision(tuple(each for each in records.values() if each is not None), answer)


def _fault(
    state: ControllerState,
    broker: BrokerRegistration,
    topic_id: TopicId,
    index: int,
    directory_id: bytes,
) -> ErrorCode:
    topic = state.image.topic_by_id(topic_id)
    if topic is None:
        return ErrorCode.UNKNOWN_TOPIC_ID
    if not 0 <= index < len(topic.partitions):
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    if broker.id not in topic.partitions[index].replicas:
        return ErrorCode.NOT_LEADER_OR_FOLLOWER
    others = set(topic.partitions[index].in_sync_replicas) - {broker.id}
    if directory_id == LOST_DIRECTORY and not any(map(state.image.is_active, others)):
        return ErrorCode.KAFKA_STORAGE_ERROR  # no other replica can lead
    return ErrorCode.NONE


def _assign(
    state: ControllerState,
    broker: BrokerRegistration,
    topic: Topic,
    index: int,
    directory_id: bytes,
) -> PartitionChanged | None:
    partition = topic.partitions[index]
    wanted = PartitionTarget.as_is(partition)
    wanted.directories[broker.id] = directory_id
    if not broker.has_directory(directory_id):
        wanted.in_sync = tuple(each for each in wanted.in_sync if each != broker.id)
    if directory_id == LOST_DIRECTORY:
        wanted.unclean = frozenset({broker.id})
    elif partition.directory_of(broker.id) == LOST_DIRECTORY:
        wanted.has_truncated = True
    if state.may_elect_uncleanly(topic):
        wanted.election = Election.UNCLEAN
    directories = tuple(wanted.directories.get(each, bytes(16)) for each in partition.replicas)
    rules = rules_for(state, topic, partition._replace(directories=directories))
    return decide_change(topic.id, index, partition, wanted, rules)
