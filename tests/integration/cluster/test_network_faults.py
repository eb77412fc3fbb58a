"""A leader of ZooKeeper and a controller that are cut off: others take their place."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from tests.integration.cluster.chaos import CONFIG
from tests.integration.cluster.harness import (
    all_metadata,
    ask,
    controller_of,
    create_topic,
    metadata,
)
from tests.integration.cluster.networked import (
    SERVERS,
    NetworkedCluster,
    cut_from_brokers,
    cut_from_zookeeper,
    cut_server,
)
from tests.support.waiting import wait_until

from ottla.protocol.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("cluster-chaos")]


@pytest.fixture(scope="module")
def cluster() -> Iterator[NetworkedCluster]:
    with NetworkedCluster(config=CONFIG) as running:
        yield running


def test_decisions_go_on_when_the_leader_of_zookeeper_is_cut_off(cluster: NetworkedCluster) -> None:
    before = cluster.ensemble.leader()
    cluster.cut(cut_server(before))
    try:
        others = [each for each in SERVERS if each != before]
        wait_until(
            lambda: any(cluster.ensemble.mode(each) == "leader" for each in others),
            "another leader of ZooKeeper",
        )
        create_topic(cluster, "without-the-leader", [1, 2, 3])
    finally:
        cluster.network.heal()
    wait_until(lambda: cluster.ensemble.mode(before) == "follower", "it follows the other")


def test_a_controller_that_is_cut_off_is_replaced_and_learns_it(cluster: NetworkedCluster) -> None:
    before = controller_of(cluster)
    others = [each for each in cluster.ids if each != before]
    cluster.cut([*cut_from_zookeeper(before), *cut_from_brokers(before)])
    try:
        wait_until(
            lambda: all(metadata(cluster, each).controller_id in set(others) for each in others),
            "another controller",
        )
        create_topic_at(cluster, "by-the-next", others)
        known = {each.name for each in all_metadata(cluster, before).topics}
        assert "by-the-next" not in known, "the network was not cut"
    finally:
        cluster.network.heal()
    wait_until(
        lambda: "by-the-next" in {each.name for each in all_metadata(cluster, before).topics},
        "it has the metadata of its successor",
    )
    assert controller_of(cluster) != before


def create_topic_at(cluster: NetworkedCluster, name: str, brokers: list[int]) -> None:
    """Without asking the broker that is cut off."""
    assignments = [CreatableReplicaAssignment(at, [each]) for at, each in enumerate(brokers)]
    request = CreateTopicsRequest([CreatableTopic(name, -1, -1, assignments)], timeout_ms=30_000)
    (answer,) = ask(cluster, brokers[0], request).topics
    assert answer.error_code == 0, answer
