"""AlterPartition: a leader changes the in-sync replicas of its partition, or a replica leaves them.

The request must have the current epochs. If another change was made first, it fails, and the leader
retries with the new state. Unlike in Kafka, a replica without space on disk removes itself; if it
was the leader, another one is elected.
"""

from __future__ import annotations

from ottla.base.ids import NO_LEADER, TopicId
from ottla.controller.decision import Decision
from ottla.controller.elections import Election, PartitionTarget, decide_change, rules_for
from ottla.controller.state import ControllerState
from ottla.metadata.entities import PartitionRegistration, Topic
from ottla.metadata.records import RECOVERED, RECOVERING, PartitionChanged
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages import alter_partition_response as response
from ottla.protocol.messages.alter_partition_request import (
    AlterPartitionRequest,
    BrokerState,
    PartitionData,
)

ANY_EPOCH = -1


def decide_alter_partition(
    state: ControllerState, request: AlterPartitionRequest, version: int
) -> Decision[response.AlterPartitionResponse]:
    """BrokerError if the broker epoch is not current."""
    state.check_broker_epoch(request.broker_id, request.broker_epoch)
    alteration = _Alteration(state, request.broker_id, version)
    topics = [
        response.TopicData(
            each.topic_id,
            [alteration.alter(TopicId(each.topic_id), wanted) for wanted in each.partitions],
        )
        for each in request.topics
    ]
    return Decision(tuple(alteration.records), response.AlterPartitionResponse(topics=topics))


class _Alteration:
    def __init__(self, state: ControllerState, broker_id: int, version: int) -> None:
        self._state = state
        self._broker_id = broker_id
        self._version = version
        self._altered: set[tuple[TopicId, int]] = set()
        self.records: list[PartitionChanged] = []

    def alter(self, topic_id: TopicId, data: PartitionData) -> response.PartitionData:
        index = data.partition_index
        topic = self._state.image.topic_by_id(topic_id)
        if topic is None:
            return _failed(index, ErrorCode.UNKNOWN_TOPIC_ID)
        if not 0 <= index < len(topic.partitions):
            return _failed(index, ErrorCode.UNKNOWN_TOPIC_OR_PARTITION)
        if (topic_id, index) in self._altered:
            return _failed(index, ErrorCode.INVALID_REQUEST)
        partition = topic.partitions[index]
        in_sync = self._in_sync(data)
        code = self._fault(partition, data, in_sync)
        if code is not ErrorCode.NONE:
            return _failed(index, code)
        return self._altered_to(topic, index, data, in_sync)

    def _in_sync(self, data: PartitionData) -> list[BrokerState]:
        if self._version < 3:
            return [BrokerState(each, ANY_EPOCH) for each in data.new_isr]
        return list(data.new_isr_with_epochs)

    def _fault(
        self, partition: PartitionRegistration, data: PartitionData, in_sync: list[BrokerState]
    ) -> ErrorCode:
        # A higher epoch comes from another controller whose records are not here yet.
        if data.leader_epoch > partition.leader_epoch:
            return ErrorCode.NOT_CONTROLLER
        if data.partition_epoch > partition.partition_epoch:
            return ErrorCode.NOT_CONTROLLER
        if data.leader_epoch < partition.leader_epoch:
            return ErrorCode.FENCED_LEADER_EPOCH
        is_withdrawal = self._is_withdrawal(partition, in_sync)
        if self._broker_id != partition.leader and not is_withdrawal:
            return ErrorCode.INVALID_REQUEST
        if data.partition_epoch < partition.partition_epoch:
            return ErrorCode.INVALID_UPDATE_VERSION
        wanted = [each.broker_id for each in in_sync]
        if not is_withdrawal and not _is_valid(partition, data, wanted):
            return ErrorCode.INVALID_REQUEST
        if not all(self._is_eligible(each) for each in in_sync):
            return ErrorCode.INELIGIBLE_REPLICA
        if not all(self._has_records(each.broker_id, partition) for each in in_sync):
            return ErrorCode.INELIGIBLE_REPLICA
        return ErrorCode.NONE

    def _is_withdrawal(self, partition: PartitionRegistration, in_sync: list[BrokerState]) -> bool:
        """Whether the requesting replica leaves, and at least one stays."""
        others = [each for each in partition.in_sync_replicas if each != self._broker_id]
        is_in_sync = self._broker_id in partition.in_sync_replicas
        return (
            is_in_sync
            and others != []
            and sorted(each.broker_id for each in in_sync) == sorted(others)
        )

    def _has_records(self, broker_id: int, partition: PartitionRegistration) -> bool:
        """A replica whose directory is lost is about to remove what it has fetched."""
        broker = self._state.image.broker(broker_id)
        is_known = broker is not None and broker.has_directory(partition.directory_of(broker_id))
        return is_known or broker_id in partition.in_sync_replicas

    def _is_eligible(self, claimed: BrokerState) -> bool:
        """Active, and the same incarnation that the leader saw."""
        broker = self._state.image.broker(claimed.broker_id)
        if broker is None or not broker.is_active:
            return False
        return claimed.broker_epoch in (ANY_EPOCH, broker.epoch)

    def _altered_to(
        self, topic: Topic, index: int, data: PartitionData, in_sync: list[BrokerState]
    ) -> response.PartitionData:
        partition = topic.partitions[index]
        wanted = PartitionTarget.as_is(partition)
        wanted.in_sync = tuple(each.broker_id for each in in_sync)
        if self._broker_id in wanted.in_sync:
            wanted.recovery = data.leader_recovery_state
        if self._state.may_elect_uncleanly(topic):
            wanted.election = Election.UNCLEAN
        rules = rules_for(self._state, topic, partition)
        record = decide_change(topic.id, index, partition, wanted, rules)
        if record is not None and partition.changed(record).leader == NO_LEADER:
            return _failed(index, ErrorCode.INELIGIBLE_REPLICA)
        leader = partition.leader
        if record is not None:
            self._altered.add((topic.id, index))
            self.records.append(record)
            partition = partition.changed(record)
        if partition.leader != leader:
            # The leader has left, or the change completed a reassignment that removed it.
            return _failed(index, ErrorCode.NEW_LEADER_ELECTED)
        return response.PartitionData(
            index,
            ErrorCode.NONE,
            partition.leader,
            partition.leader_epoch,
            partition.in_sync_replicas,
            partition.leader_recovery,
            partition.partition_epoch,
        )


def _is_valid(partition: PartitionRegistration, data: PartitionData, in_sync: list[int]) -> bool:
    """Replicas without duplicates, including the leader; a recovery can only end."""
    if not in_sync or len(set(in_sync)) != len(in_sync):
        return False
    if not set(in_sync) <= set(partition.replicas) or partition.leader not in in_sync:
        return False
    recovery = data.leader_recovery_state
    if recovery not in (RECOVERED, RECOVERING):
        return False
    if recovery == RECOVERING:
        return len(in_sync) == 1 and partition.leader_recovery == RECOVERING
    return True


def _failed(index: int, code: ErrorCode) -> response.PartitionData:
    return response.PartitionData(index, code)
