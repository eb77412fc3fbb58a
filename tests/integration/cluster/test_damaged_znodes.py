"""Znodes that are edited or deleted by hand. What the brokers can put right they do; otherwise they
name the znode, and say what to do."""

from __future__ import annotations

import random
import signal
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from kazoo.exceptions import NoNodeError
from kazoo.security import make_acl
from tests.integration.cluster.harness import (
    ask,
    controller_of,
    create_topic,
    kazoo_client,
    metadata,
    others,
)
from tests.support.waiting import wait_until as wait

from ottla.metadata.zookeeper.layout import (
    BROKER_IDS,
    CONTROLLER,
    CONTROLLER_EPOCH,
    LOG,
    PARTS,
    broker_path,
)
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)
from ottla.testing.broker import BrokerFailed
from ottla.testing.cluster import RunningCluster

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("cluster-znodes")]
# A controller that resigns may have been successful: the next one is asked again.
DONE = (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)


@pytest.fixture(scope="module")
def cluster() -> Iterator[RunningCluster]:
    config = {"zookeeper.session.timeout.ms": 4000, "request.timeout.ms": 3000}
    with RunningCluster(2, config=config) as running:
        create_topic(running, "data", [1, 2])
        yield running


@pytest.fixture
def znodes(cluster: RunningCluster) -> Iterator[Any]:
    """A client of ZooKeeper; all brokers run before and after the test."""
    with kazoo_client(cluster.zookeeper_connect) as client:
        yield client
        for broker_id in cluster.ids:
            cluster.start(broker_id)
        wait_until(lambda: all(serves(cluster, each) for each in cluster.ids), "all brokers serve")


def wait_until(is_done: Callable[[], bool], what: str) -> None:
    wait(is_done, what, 15)


def serves(cluster: RunningCluster, broker_id: int) -> bool:
    """Whether all other brokers, and this one, know it as a leader."""
    return all(
        broker_id
        in [each.leader_id for each in metadata(cluster, asked, "data").topics[0].partitions]
        for asked in cluster.ids
    )


def create(cluster: RunningCluster, broker_id: int, name: str) -> int:
    request = CreateTopicsRequest([CreatableTopic(name, 1, 1)], timeout_ms=30_000)
    code: int = ask(cluster, broker_id, request).topics[0].error_code
    return code


def new_log(cluster: RunningCluster, before: dict[int, int]) -> str:
    """What all brokers wrote since then."""
    return "".join(each.log[before[at] :] for at, each in cluster.brokers.items())


def log_sizes(cluster: RunningCluster) -> dict[int, int]:
    return {at: len(each.log) for at, each in cluster.brokers.items()}


def test_a_deleted_controller_is_elected_again(cluster: RunningCluster, znodes: Any) -> None:
    controller_of(cluster)
    epoch = int(znodes.get(CONTROLLER_EPOCH)[0])
    znodes.delete(CONTROLLER)
    for each in cluster.ids:
        assert create(cluster, each, f"deleted-controller-{each}") in DONE
    controller_of(cluster)
    assert int(znodes.get(CONTROLLER_EPOCH)[0]) > epoch


def test_an_edited_controller_is_named(cluster: RunningCluster, znodes: Any) -> None:
    controller_of(cluster)
    before = log_sizes(cluster)
    znodes.set(CONTROLLER, b"me")
    wait_until(lambda: f"the znode {CONTROLLER}" in new_log(cluster, before), "it is named")
    for each in cluster.ids:
        assert create(cluster, each, f"edited-controller-{each}") in DONE
    controller_of(cluster)


def put(znodes: Any, path: str, data: bytes, *, is_ephemeral: bool = False) -> None:
    """In the place of what a broker has created."""
    while True:  # the brokers may be quicker
        made = znodes.transaction()
        made.delete(path)
        made.create(path, data, ephemeral=is_ephemeral)
        if made.commit() == [True, path]:
            return


@pytest.mark.parametrize(
    "data", [b"me", b'{"version": 2, "brokerid": 1, "epoch": 1}'], ids=["other", "as a broker's"]
)
def test_a_controller_made_by_hand_is_replaced(
    cluster: RunningCluster, znodes: Any, data: bytes
) -> None:
    controller_of(cluster)
    before = log_sizes(cluster)
    put(znodes, CONTROLLER, data)
    wait_until(lambda: f"the znode {CONTROLLER}" in new_log(cluster, before), "it is named")
    for each in cluster.ids:
        assert create(cluster, each, f"hand-made-controller-{len(data)}-{each}") in DONE
    controller_of(cluster)


def test_a_controller_made_by_hand_in_a_session_is_named(
    cluster: RunningCluster, znodes: Any
) -> None:
    controller_of(cluster)
    before = log_sizes(cluster)
    put(znodes, CONTROLLER, b"me", is_ephemeral=True)
    wait_until(lambda: "delete it" in new_log(cluster, before), "it is named")
    znodes.delete(CONTROLLER)
    for each in cluster.ids:
        assert create(cluster, each, f"controller-in-a-session-{each}") in DONE


@pytest.mark.parametrize(
    "data",
    [b"1", b"many", b"9" * 30, None],
    ids=["earlier", "no number", "too large", "deleted"],
)
def test_a_damaged_epoch_goes_neither_back_nor_far_ahead(
    cluster: RunningCluster, znodes: Any, data: bytes | None
) -> None:
    controller_of(cluster)
    before = log_sizes(cluster)
    epoch = int(znodes.get(CONTROLLER_EPOCH)[0])
    if data is None:
        znodes.delete(CONTROLLER_EPOCH)
    else:
        znodes.set(CONTROLLER_EPOCH, data)
    for each in cluster.ids:
        assert create(cluster, each, f"epoch-{data!r}-{each}".replace("'", "")) in DONE
    controller_of(cluster)
    assert epoch < int(znodes.get(CONTROLLER_EPOCH)[0]) < epoch + 1000
    assert f"the znode {CONTROLLER_EPOCH}" in new_log(cluster, before)


@pytest.mark.parametrize("data", [None, b"me"], ids=["deleted", "edited"])
@pytest.mark.parametrize("is_controller", [False, True], ids=["other broker", "controller"])
def test_a_damaged_member_announces_itself_again(
    cluster: RunningCluster, znodes: Any, data: bytes | None, *, is_controller: bool
) -> None:
    broker_id = controller_of(cluster) if is_controller else others(cluster)[0]
    path = broker_path(broker_id)
    was = znodes.get(path)[0]
    if data is None:
        znodes.delete(path)
    else:
        znodes.set(path, data)

    def is_announced() -> bool:
        try:
            return b"incarnation" in znodes.get(path)[0]
        except NoNodeError:  # it is deleted and created again
            return False

    wait_until(is_announced, "it announces itself again")
    wait_until(lambda: serves(cluster, broker_id), "it serves again")
    assert b"incarnation" in was


@pytest.mark.parametrize("is_copy", [False, True], ids=["other", "copy"])
def test_a_member_made_by_hand_is_replaced(
    cluster: RunningCluster, znodes: Any, *, is_copy: bool
) -> None:
    """While its broker runs, and while it does not."""
    broker_id = others(cluster)[0]
    path = broker_path(broker_id)
    data = znodes.get(path)[0] if is_copy else b"me"
    before = log_sizes(cluster)
    put(znodes, path, data)
    wait_until(lambda: f"the znode {path} is not ephemeral" in new_log(cluster, before), "named")

    def is_replaced() -> bool:
        found = znodes.exists(path)
        return found is not None and found.ephemeralOwner != 0

    wait_until(is_replaced, "it is replaced")
    wait_until(lambda: serves(cluster, broker_id), "it serves again")
    cluster.kill(broker_id)
    wait_until(lambda: znodes.exists(path) is None, "it is removed")
    znodes.create(path, data)
    cluster.start(broker_id)
    wait_until(lambda: serves(cluster, broker_id), "it serves again")
    assert is_replaced()


def test_a_log_that_may_not_be_written_stops_administration_and_no_broker(
    cluster: RunningCluster, znodes: Any
) -> None:
    controller = controller_of(cluster)
    before = log_sizes(cluster)
    anyone = make_acl("world", "anyone", read=True, admin=True)
    znodes.set_acls(LOG, [anyone])
    try:
        for each in cluster.ids:
            assert create(cluster, each, f"denied-{each}") == ErrorCode.KAFKA_STORAGE_ERROR
        assert "its ACL or that of its parent denies it" in new_log(cluster, before)
        assert controller_of(cluster) == controller
    finally:
        znodes.set_acls(LOG, [make_acl("world", "anyone", all=True)])
    for each in cluster.ids:
        assert create(cluster, each, f"denied-{each}") in DONE


def delete_with_children(znodes: Any, path: str) -> None:
    """In one transaction, so that no broker creates a child meanwhile."""
    while True:
        deleting = znodes.transaction()
        for name in znodes.get_children(path):
            for child in znodes.get_children(f"{path}/{name}"):
                deleting.delete(f"{path}/{name}/{child}")
            deleting.delete(f"{path}/{name}")
        deleting.delete(path)
        if all(result is True for result in deleting.commit()):
            return


def test_a_deleted_folder_of_members_is_created_again(cluster: RunningCluster, znodes: Any) -> None:
    controller_of(cluster)
    before = log_sizes(cluster)
    delete_with_children(znodes, "/brokers")
    wait_until(lambda: znodes.exists(broker_path(1)) is not None, "it announces itself again")
    wait_until(lambda: all(serves(cluster, each) for each in cluster.ids), "all brokers serve")
    assert f"the znode {BROKER_IDS}" in new_log(cluster, before)


def test_a_deleted_folder_of_parts_is_created_again(cluster: RunningCluster, znodes: Any) -> None:
    """Large decisions are written there."""
    controller_of(cluster)
    before = log_sizes(cluster)
    epoch = znodes.get(CONTROLLER_EPOCH)[0]
    delete_with_children(znodes, PARTS)
    rng = random.Random(1)
    topics = []
    for n in range(60):
        replicas = ",".join(f"{rng.randrange(10**6)}:{rng.randrange(10**6)}" for _ in range(2000))
        setting = CreatableTopicConfig("follower.replication.throttled.replicas", replicas)
        topics.append(CreatableTopic(f"large-{n}", 1, 1, configs=[setting]))
    request = CreateTopicsRequest(topics, timeout_ms=30_000)

    def is_done() -> bool:  # it may take longer than request.timeout.ms
        return {each.error_code for each in ask(cluster, 1, request).topics} <= set(DONE)

    wait_until(is_done, "all topics exist")
    assert znodes.get_children(PARTS) != []
    assert znodes.get(CONTROLLER_EPOCH)[0] == epoch
    assert f"the znode {PARTS}" in new_log(cluster, before)


@pytest.mark.parametrize("data", [None, b"{}"], ids=["deleted", "edited"])
def test_a_damaged_batch_is_named(cluster: RunningCluster, znodes: Any, data: bytes | None) -> None:
    """Brokers that have applied it continue; one that starts says what is wrong."""
    kind = "deleted" if data is None else "edited"
    assert create(cluster, 1, f"batch-{kind}") in DONE
    names = sorted(znodes.get_children(LOG))
    path = f"{LOG}/{names[len(names) // 2]}"
    was = znodes.get(path)[0]
    started = others(cluster)[0]
    cluster.stop(started)
    if data is None:
        znodes.delete(path)
    else:
        znodes.set(path, data)
    before = len(cluster.brokers[started].log)
    with pytest.raises(BrokerFailed):
        cluster.start(started)
    said = cluster.brokers[started].log[before:]
    assert path in said
    assert "restore ZooKeeper from a backup" in said
    assert create(cluster, controller_of(cluster), f"go-on-{kind}") in DONE
    if data is None:
        znodes.create(path, was)
    else:
        znodes.set(path, was)


def test_administration_without_zookeeper_ends_with_an_error(
    cluster: RunningCluster, znodes: Any
) -> None:
    """At the controller too, whose decision may be stored later."""
    controller_of(cluster)
    cluster.zookeeper.signal(signal.SIGSTOP)
    try:
        with ThreadPoolExecutor(2) as threads:
            waiting = [
                threads.submit(create, cluster, each, f"timed-out-{each}") for each in cluster.ids
            ]
            codes = [each.result(60) for each in waiting]
    finally:
        cluster.zookeeper.signal(signal.SIGCONT)
    assert codes == [ErrorCode.REQUEST_TIMED_OUT] * 2
    for each in cluster.ids:
        wait_until(lambda at=each: create(cluster, at, f"after-{at}") in DONE, "continues")  # type: ignore[misc]


def test_the_log_of_brokers_has_no_traceback(cluster: RunningCluster, znodes: Any) -> None:
    for broker in cluster.brokers.values():
        assert "Traceback" not in broker.log, broker.log
