"""A topic that a Metadata request creates can be used at once, whichever brokers lead it."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.integration.cluster.harness import ask
from tests.support.raw_client import RawClient, batch_of

from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from ottla.testing.cluster import RunningCluster

pytestmark = pytest.mark.ci

TOPICS = 60


@pytest.fixture(scope="module")
def cluster() -> Iterator[RunningCluster]:
    with RunningCluster(config={"num.partitions": 3}) as running:
        yield running


def test_the_leaders_in_the_first_answer_lead(cluster: RunningCluster) -> None:
    clients = {each: RawClient(cluster.brokers[each].bootstrap_servers) for each in cluster.ids}
    refused = []
    for number in range(TOPICS):
        name = f"automatic-{number}"
        asked = cluster.ids[number % len(cluster.ids)]
        request = MetadataRequest([MetadataRequestTopic(name=name)])
        (topic,) = ask(cluster, asked, request, 9).topics
        assert (topic.error_code, len(topic.partitions)) == (0, 3), topic
        for each in topic.partitions:
            leader = clients[each.leader_id]
            produced = leader.produce(name, batch_of(b"first"), partition=each.partition_index)
            if produced.error_code:
                refused.append((name, asked, each.leader_id, produced.error_code))
    for client in clients.values():
        client.close()
    assert not refused
