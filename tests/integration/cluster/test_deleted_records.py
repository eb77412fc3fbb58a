"""DeleteRecords on three replicas: the answer counts for all that are alive."""

from __future__ import annotations

import pytest
from tests.integration.cluster.harness import ask
from tests.integration.cluster.test_replication import Replicated
from tests.support.waiting import wait_until

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.delete_records_request import (
    DeleteRecordsPartition,
    DeleteRecordsRequest,
    DeleteRecordsTopic,
)
from ottla.testing.cluster import RunningCluster

pytestmark = pytest.mark.ci


def delete(topic: Replicated, leader: int, before: int, timeout_ms: int) -> tuple[int, int]:
    """(error, low watermark)."""
    named = DeleteRecordsTopic(topic.name, [DeleteRecordsPartition(0, before)])
    answer = ask(topic.cluster, leader, DeleteRecordsRequest([named], timeout_ms))
    (result,) = answer.topics[0].partitions
    return result.error_code, result.low_watermark


def is_alive(topic: Replicated, broker_id: int) -> bool:
    return broker_id not in topic.partition().offline_replicas


def test_records_are_deleted_on_all_living_replicas(cluster: RunningCluster) -> None:
    topic = Replicated(cluster)
    with topic.producing():
        topic.wait_for_more(50)
    topic.wait_until_in_sync()
    leader, (follower, _) = topic.leader, topic.followers
    # An idle partition: followers are notified of it by itself, long before their fetch would end.
    assert delete(topic, leader, 10, 30_000) == (ErrorCode.NONE, 10)

    cluster.pause(follower)
    assert delete(topic, leader, 20, 300) == (ErrorCode.REQUEST_TIMED_OUT, 10)
    cluster.resume(follower)
    wait_until(lambda: is_alive(topic, follower), "the broker is back")
    topic.wait_until_in_sync()
    assert delete(topic, topic.leader, 20, 30_000) == (ErrorCode.NONE, 20)

    cluster.kill(follower)
    wait_until(lambda: not is_alive(topic, follower), "the broker has ended")
    assert delete(topic, topic.leader, 30, 30_000) == (ErrorCode.NONE, 30)
    cluster.start(follower)
    topic.wait_until_in_sync()
    assert delete(topic, topic.leader, 30, 30_000) == (ErrorCode.NONE, 30)
    cluster.stop(topic.leader)
    assert delete(topic, topic.leader, 0, 30_000) == (ErrorCode.NONE, 30)
    cluster.restore()
    topic.wait_until_in_sync()
