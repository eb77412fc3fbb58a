"""Produce requests made of waiting batches, and their responses.

A request has one batch per partition, as the protocol requires. Topics are named by id from version
13 on, so that a batch never gets into another topic of the same name. Transactions stay below
version 12, in which a broker adds partitions by itself: another process could not end them.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

from ottla.base.ids import TopicPartition
from ottla.client.cluster.retries import Reaction, reaction_to
from ottla.client.producing.partition_window import PartitionWindow, PendingBatch
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.produce_request import PartitionProduceData, TopicProduceData
from ottla.protocol.messages.produce_response import PartitionProduceResponse, ProduceResponse

CLASSIC_AT_MOST = 11
TOPIC_IDS_FROM = 13
DAMAGED_MAX = 3  # a batch that arrives damaged this often was built wrongly


def take_batches(windows: Sequence[PartitionWindow], bytes_max: int) -> list[PendingBatch]:
    """The next batch of each window, up to the size of a request, but at least one."""
    taken: list[PendingBatch] = []
    room = bytes_max
    for window in windows:
        room -= len(window.waiting[0].data)
        if room < 0 and taken:
            break
        taken.append(window.take())
    return taken


def version_at_most(is_transactional: bool, has_topic_ids: bool) -> int | None:
    if is_transactional:
        return CLASSIC_AT_MOST
    return None if has_topic_ids else TOPIC_IDS_FROM - 1


def topic_data(
    batches: Iterable[PendingBatch], topic_ids: Mapping[str, bytes], version: int
) -> list[TopicProduceData]:
    topics: dict[str, list[PartitionProduceData]] = {}
    for batch in batches:
        part = PartitionProduceData(batch.partition.partition, batch.data)
        topics.setdefault(batch.partition.topic, []).append(part)
    if version < TOPIC_IDS_FROM:
        return [TopicProduceData(name, partition_data=parts) for name, parts in topics.items()]
    return [TopicProduceData(name, topic_ids[name], parts) for name, parts in topics.items()]


def results_by_partition(
    answer: ProduceResponse, topic_ids: Mapping[str, bytes]
) -> dict[TopicPartition, PartitionProduceResponse]:
    names = {topic_id: name for name, topic_id in topic_ids.items() if any(topic_id)}
    return {
        TopicPartition(topic.name or names.get(bytes(topic.topic_id), ""), part.index): part
        for topic in answer.responses
        for part in topic.partition_responses
    }


def may_pass(window: PartitionWindow, batch: PendingBatch, code: ErrorCode) -> bool:
    """Whether the batch should be sent again after this error."""
    if code == ErrorCode.OUT_OF_ORDER_SEQUENCE_NUMBER:
        return not window.is_first(batch)  # an earlier batch will be sent again
    if code == ErrorCode.CORRUPT_MESSAGE and batch.attempts >= DAMAGED_MAX:
        return False
    return reaction_to(code) is not Reaction.FAIL
