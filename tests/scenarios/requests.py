"""The requests of a scenario's client, and what it does about the answers.

Retries as clients do while a partition has no leader or another one; not when it cannot know
whether a record was appended.
"""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

from tests.simulation.cluster.client import records_in
from tests.simulation.cluster.process import PORT, host_of
from tests.unit.storage.log_making import batch_of

from ottla.network.channel.channel import Channel, ChannelSettings
from ottla.network.channel.errors import ChannelError
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.message import Message
from ottla.protocol.messages.alter_partition_reassignments_request import (
    AlterPartitionReassignmentsRequest,
    ReassignablePartition,
    ReassignableTopic,
)
from ottla.protocol.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.protocol.messages.elect_leaders_request import ElectLeadersRequest, TopicPartitions
from ottla.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.protocol.messages.list_offsets_request import (
    ListOffsetsPartition,
    ListOffsetsRequest,
    ListOffsetsTopic,
)
from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)

if TYPE_CHECKING:
    from tests.scenarios.stage import Stage

WITH_NAMES = 12  # versions of Produce and Fetch
ROOM = 1 << 20
REQUEST_S = 8.0
PRODUCE_MS = 3000
RETRIED_S = 20.0
PAUSE_S = 0.05
LATEST = -1
TOPIC_RESOURCE = 2
SET = 0
KINDS = {"preferred": 0, "unclean": 1}
NO_LEADER_NOW = (
    ErrorCode.NOT_LEADER_OR_FOLLOWER,
    ErrorCode.LEADER_NOT_AVAILABLE,
    ErrorCode.OFFSET_NOT_AVAILABLE,
    ErrorCode.UNKNOWN_TOPIC_OR_PARTITION,
    ErrorCode.KAFKA_STORAGE_ERROR,
)


class Answer(NamedTuple):
    error: ErrorCode = ErrorCode.NONE
    offset: int = -1
    records: tuple[tuple[int, bytes], ...] = ()

    def __str__(self) -> str:
        if self.error:
            return f"error {self.error.name}"
        if self.offset >= 0:
            return f"offset {self.offset}"
        return "records " + (",".join(f'"{value.decode()}"' for _, value in self.records) or "none")


class Client:
    def __init__(self, stage: Stage) -> None:
        self._stage = stage
        self._channels: dict[int, Channel] = {}
        self.latest: dict[str, int] = {}  # the offset of the last response, of each partition
        self.acknowledged: dict[str, dict[int, str]] = {}  # with acks=all

    def close(self) -> None:
        for each in self._channels.values():
            each.close()

    async def ask(self, broker_id: int, request: Message, version: int | None = None) -> Any:
        if broker_id not in self._channels:
            settings = ChannelSettings("scenario", "1", 1.0, ROOM)
            self._channels[broker_id] = Channel(host_of(broker_id), PORT, settings)
        return await self._channels[broker_id].request(request, REQUEST_S, at_most=version)

    async def _ask_any(self, request: Message, at: int | None = None) -> Any:
        """Any broker that runs, or this one. Brokers pass requests on to the controller."""
        running = [each for each, process in self._stage.processes.items() if process.is_ready]
        for broker_id in running if at is None else [at]:
            try:
                return await self.ask(broker_id, request)
            except ChannelError as error:
                failed = error
        raise failed

    # Records

    async def produce(self, partition: str, value: str, acks: int, at: int | None) -> Answer:
        topic, _, index = partition.rpartition("-")
        data = PartitionProduceData(int(index), bytes(batch_of(value.encode())))
        produced = TopicProduceData(topic, partition_data=[data])
        request = ProduceRequest(None, acks, PRODUCE_MS, [produced])

        async def once(broker_id: int) -> Answer:
            response = await self.ask(broker_id, request, WITH_NAMES)
            answer = response.responses[0].partition_responses[0]
            return Answer(ErrorCode(answer.error_code), answer.base_offset)

        answer = await self._at_leader(partition, once, at)
        if acks < 0 and not answer.error:
            self.acknowledged.setdefault(partition, {})[answer.offset] = value
        return answer

    async def consume(self, partition: str, at: int | None = None) -> Answer:
        """Everything that is committed."""
        topic, _, index = partition.rpartition("-")

        async def once(broker_id: int) -> Answer:
            found: list[tuple[int, bytes]] = []
            while True:
                offset = found[-1][0] + 1 if found else 0
                part = FetchPartition(int(index), fetch_offset=offset, partition_max_bytes=ROOM)
                topics = [FetchTopic(topic, partitions=[part])]
                request = FetchRequest(max_wait_ms=100, min_bytes=1, max_bytes=ROOM, topics=topics)
                response = await self.ask(broker_id, request, WITH_NAMES)
                answer = response.responses[0].partitions[0]
                new = [] if answer.error_code else records_in(bytes(answer.records or b""))
                if not new:
                    return Answer(ErrorCode(answer.error_code), records=tuple(found))
                found += new

        return await self._at_leader(partition, once, at)

    async def latest_of(self, partition: str) -> int:
        """What ListOffsets says; AssertionError if it said more before."""
        topic, _, index = partition.rpartition("-")
        wanted = ListOffsetsPartition(int(index), timestamp=LATEST)
        request = ListOffsetsRequest(-1, topics=[ListOffsetsTopic(topic, [wanted])])

        async def once(broker_id: int) -> Answer:
            response = await self.ask(broker_id, request)
            answer = response.topics[0].partitions[0]
            return Answer(ErrorCode(answer.error_code), answer.offset)

        answer = await self._at_leader(partition, once, None)
        if answer.error:
            return -1
        before = self.latest.get(partition, 0)
        assert answer.offset >= before, f"latest {partition} was {before}, and is {answer.offset}"
        self.latest[partition] = answer.offset
        return answer.offset

    async def _at_leader(self, partition: str, once: Any, at: int | None) -> Answer:
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + RETRIED_S
        while True:
            decided = self._stage.partition(partition)
            leader = at if at is not None else -1 if decided is None else decided.leader
            answer = Answer(ErrorCode.LEADER_NOT_AVAILABLE)
            if leader >= 0:
                try:
                    answer = await once(leader)
                except ChannelError:
                    answer = Answer(ErrorCode.NETWORK_EXCEPTION)
            if at is not None or answer.error not in NO_LEADER_NOW or loop.time() > deadline_s:
                return answer
            await asyncio.sleep(PAUSE_S)

    # Administration

    async def create_topic(
        self, name: str, assignment: Mapping[int, Sequence[int]], min_in_sync: str
    ) -> None:
        replicas = [CreatableReplicaAssignment(*each) for each in assignment.items()]
        configs = [CreatableTopicConfig("min.insync.replicas", min_in_sync)]
        topic = CreatableTopic(name, -1, -1, replicas, configs)
        response = await self._ask_any(CreateTopicsRequest([topic], timeout_ms=5000))
        assert response.topics[0].error_code == 0, response.topics[0].error_message

    async def elect(self, kind: str, partition: str) -> Answer:
        topic, _, index = partition.rpartition("-")
        wanted = [TopicPartitions(topic, [int(index)])]
        response = await self._ask_any(ElectLeadersRequest(KINDS[kind], wanted, 5000))
        results = response.replica_election_results
        return Answer(ErrorCode(results[0].partition_result[0].error_code))

    async def reassign(
        self, partition: str, brokers: Sequence[int] | None, at: int | None
    ) -> Answer:
        """Without brokers, the reassignment is cancelled."""
        topic, _, index = partition.rpartition("-")
        wanted = ReassignableTopic(topic, [ReassignablePartition(int(index), brokers)])
        request = AlterPartitionReassignmentsRequest(5000, topics=[wanted])
        try:
            response = await self._ask_any(request, at)
        except ChannelError:
            return Answer(ErrorCode.NETWORK_EXCEPTION)
        parts = [each for topic in response.responses for each in topic.partitions]
        code = response.error_code or (parts[0].error_code if parts else 0)
        return Answer(ErrorCode(code))

    async def set(self, topic: str, setting: str, at: int | None) -> Answer:
        name, _, value = setting.partition("=")
        resource = AlterConfigsResource(TOPIC_RESOURCE, topic, [AlterableConfig(name, SET, value)])
        try:
            response = await self._ask_any(IncrementalAlterConfigsRequest([resource]), at)
        except ChannelError:
            return Answer(ErrorCode.NETWORK_EXCEPTION)
        return Answer(ErrorCode(response.responses[0].error_code))
