"""When a broker may be restarted."""

from __future__ import annotations

import pytest

from ottla.base.ids import TopicPartition
from ottla.cli.commands.cluster.restart import require_zookeeper
from ottla.cli.errors import CommandFailed
from ottla.cli.local_cluster.rolling import behind, in_order, stopped_without
from ottla.client.cluster.topology import PartitionDescription

AT = TopicPartition("t", 0)


def partition(
    replicas: tuple[int, ...], in_sync: tuple[int, ...], leader: int = 1
) -> dict[TopicPartition, PartitionDescription]:
    return {AT: PartitionDescription(0, leader, 0, replicas, in_sync)}


def test_the_controller_is_restarted_last() -> None:
    assert in_order([3, 1, 2], 2) == [1, 3, 2]


def test_a_partition_with_all_replicas_in_sync_is_not_behind() -> None:
    assert behind(partition((1, 2), (2, 1))) == []
    assert behind(partition((1, 2), (1,))) == [AT]
    assert behind(partition((1, 2), (1, 2), leader=-1)) == [AT]


def test_what_only_the_restarted_broker_lacks_is_not_waited_for() -> None:
    assert behind(partition((1, 2, 3), (1, 2)), besides=3) == []
    assert behind(partition((1, 2, 3), (1,)), besides=3) == [AT]
    assert behind(partition((1,), (1,), leader=-1), besides=1) == []


def test_a_broker_whose_partition_would_have_too_few_replicas_in_sync_is_not_stopped() -> None:
    lagging = partition((1, 2, 3), (1, 2))
    assert stopped_without(lagging, {"t": 2}, 1) == [AT]
    assert stopped_without(lagging, {"t": 2}, 3) == []  # it is the one that lags
    assert stopped_without(lagging, {"t": 1}, 1) == []
    assert stopped_without(lagging, {"t": 2}, 4) == []


def test_a_partition_that_never_has_enough_replicas_does_not_hold_it_up() -> None:
    assert stopped_without(partition((1,), (1,)), {"t": 2}, 1) == []
    assert stopped_without(partition((1, 2), (1, 2)), {"t": 2}, 1) == []
    assert stopped_without(partition((1, 2), (1,)), {"t": 2}, 1) == [AT]


@pytest.mark.parametrize(
    ("states", "stopped"),
    [
        (["running"], ""),
        (["running", "killed", "running"], ""),
        (["killed"], "zookeeper-1"),
        (["failed", "running", "stopped"], "zookeeper-1 zookeeper-3"),
    ],
)
def test_no_broker_is_stopped_that_could_not_start_again(states: list[str], stopped: str) -> None:
    """A start waits for ZooKeeper, which has no majority."""
    servers = [{"name": f"zookeeper-{n}", "state": each} for n, each in enumerate(states, 1)]
    members = [*servers, {"name": "broker-1", "state": "killed"}]
    if stopped:
        with pytest.raises(CommandFailed, match=f"ottla cluster start {stopped};"):
            require_zookeeper(members)
    else:
        require_zookeeper(members)
