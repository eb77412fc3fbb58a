"""Questions that several tests of handlers ask."""

from __future__ import annotations

from tests.unit.handlers.world import World

from ottla.protocol.messages.produce_request import (
    PartitionProduceData,
    ProduceRequest,
    TopicProduceData,
)
from ottla.protocol.messages.produce_response import PartitionProduceResponse
from ottla.protocol.records.building import build_batch
from ottla.protocol.records.record import Record

START_MS = 1_700_000_000_000


def produce(
    world: World, topic: str, values: int = 1, *, at_ms: int = START_MS, partition: int = 0
) -> PartitionProduceResponse:
    """One batch of so many records, a second apart."""
    rows = [Record(at, at_ms + 1000 * at, b"k", b"value", ()) for at in range(values)]
    data = PartitionProduceData(partition, build_batch(rows))
    request = ProduceRequest(None, -1, 1000, [TopicProduceData(topic, partition_data=[data])])
    answer = world.ask(request, 9).responses[0].partition_responses[0]
    assert isinstance(answer, PartitionProduceResponse)
    return answer
