"""Fetch sessions whose partitions do not all fit into one answer."""

from __future__ import annotations

from tests.support.raw_client import RawClient, batch_of

from ottla.protocol.messages.fetch_request import FetchPartition, FetchRequest, FetchTopic
from ottla.protocol.messages.fetch_response import FetchResponse
from ottla.testing.broker import RunningBroker

VERSION = 12  # by name


def served(answer: FetchResponse) -> set[int]:
    """The partitions that an answer has records of."""
    assert answer.error_code == 0
    parts = [part for topic in answer.responses for part in topic.partitions]
    return {part.partition_index for part in parts if len(part.records or b"")}


def test_a_partition_left_out_for_want_of_room_comes_with_the_next_answer() -> None:
    with RunningBroker() as broker, RawClient(broker.bootstrap_servers) as client:
        client.create_topic("t", partitions=3)
        for partition in range(3):
            client.produce("t", batch_of(bytes(1000)), partition=partition)
        wanted = [FetchPartition(number, -1, 0, partition_max_bytes=5000) for number in range(3)]
        first = FetchRequest(
            max_wait_ms=100, max_bytes=1000, session_epoch=0, topics=[FetchTopic("t", b"", wanted)]
        )
        first.topics[0].topic_id = bytes(16)
        answer = client.ask(first, VERSION)
        seen = [served(answer)]
        for epoch in (1, 2):
            done = [FetchPartition(at, -1, 1, partition_max_bytes=5000) for at in seen[-1]]
            request = FetchRequest(
                max_wait_ms=100,
                max_bytes=1000,
                session_id=answer.session_id,
                session_epoch=epoch,
                topics=[FetchTopic("t", bytes(16), done)],
            )
            seen.append(served(client.ask(request, VERSION)))
        assert seen == [{0}, {1}, {2}]
