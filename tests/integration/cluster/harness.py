"""What tests of a cluster share: who is the controller, and what each broker answers."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from kazoo.client import KazooClient
from tests.support.raw_client import RawClient
from tests.support.waiting import wait_until

from ottla.config.zookeeper_connect import ConnectString
from ottla.metadata.continuity import KnownState
from ottla.metadata.image import Image
from ottla.metadata.zookeeper.kazoo_service import open_service
from ottla.metadata.zookeeper.zookeeper_log import ZooKeeperMetadataLog
from ottla.protocol.api_keys import APIS, ApiKey
from ottla.protocol.message import Message
from ottla.protocol.messages.create_topics_request import (
    CreatableReplicaAssignment,
    CreatableTopic,
    CreateTopicsRequest,
)
from ottla.protocol.messages.describe_configs_request import (
    DescribeConfigsRequest,
    DescribeConfigsResource,
)
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic
from ottla.testing.cluster import RunningCluster

TOPIC, BROKER, BROKER_LOGGER = 2, 4, 8  # kinds of resources
NO_CONTROLLER = -1


def ask(cluster: RunningCluster, broker_id: int, request: Message, version: int = -1) -> Any:
    """The answer of one broker; version -1 is the newest that is announced."""
    with RawClient(cluster.brokers[broker_id].bootstrap_servers) as client:
        return client.ask(request, newest(request) if version < 0 else version)


def newest(request: Message) -> int:
    key = ApiKey(request.API_KEY)  # type: ignore[attr-defined]  # of all requests
    return APIS[key].stable_versions[-1]


def running(cluster: RunningCluster) -> list[int]:
    return [
        each
        for each, broker in cluster.brokers.items()
        if broker.is_running and not broker.is_paused
    ]


def controller_of(cluster: RunningCluster, *, besides: int | None = None) -> int:
    """The controller that all running brokers know, once they agree on one."""
    found = set[int]()

    def is_known() -> bool:
        found.clear()
        found.update(metadata(cluster, each).controller_id for each in running(cluster))
        return len(found) == 1 and not found & {NO_CONTROLLER, besides}

    wait_until(is_known, "one controller")
    return found.pop()


def others(cluster: RunningCluster) -> list[int]:
    controller = controller_of(cluster)
    return [each for each in running(cluster) if each != controller]


def metadata(cluster: RunningCluster, broker_id: int, *topics: str) -> Any:
    named = [MetadataRequestTopic(name=each) for each in topics]
    return ask(cluster, broker_id, MetadataRequest(named, allow_auto_topic_creation=False))


def all_metadata(cluster: RunningCluster, broker_id: int) -> Any:
    return ask(cluster, broker_id, MetadataRequest(None, allow_auto_topic_creation=False))


def create_topic(
    cluster: RunningCluster, name: str, leaders: list[int], *, via: int | None = None
) -> None:
    """A topic with one partition on each of these brokers, without further copies."""
    assignments = [CreatableReplicaAssignment(at, [each]) for at, each in enumerate(leaders)]
    request = CreateTopicsRequest([CreatableTopic(name, -1, -1, assignments)], timeout_ms=30_000)
    (answer,) = ask(cluster, running(cluster)[0] if via is None else via, request).topics
    assert answer.error_code == 0, answer
    for each in running(cluster):
        wait_until(lambda each=each: is_led(cluster, each, name), f"{name} is led")  # type: ignore[misc]


def is_led(cluster: RunningCluster, broker_id: int, name: str) -> bool:
    (topic,) = metadata(cluster, broker_id, name).topics
    return bool(topic.partitions) and all(each.leader_id >= 0 for each in topic.partitions)


def settings_of(
    cluster: RunningCluster, broker_id: int, kind: int, name: str
) -> dict[str, str | None]:
    """The settings that were changed: not the defaults, nor those of the configuration file."""
    request = DescribeConfigsRequest([DescribeConfigsResource(kind, name, None)])
    (answer,) = ask(cluster, broker_id, request).results
    assert answer.error_code == 0, answer
    return {each.name: each.value for each in answer.configs if each.config_source in (1, 2, 3)}


@contextmanager
def measured(what: str) -> Iterator[None]:
    began_s = time.monotonic()
    yield
    print(f"{what}: {time.monotonic() - began_s:.2f} s")


def plain(value: Any, replace: Callable[[str], str] = str) -> Any:
    """A response for comparison, names after `replace`; without throttle times and the ids of new
    topics."""
    if isinstance(value, Message) or hasattr(value, "items"):
        left_out = ("throttle_time_ms", "topic_id")
        return {name: plain(each, replace) for name, each in value.items() if name not in left_out}
    if isinstance(value, list | tuple):
        return [plain(each, replace) for each in value]
    return replace(value) if isinstance(value, str) else value


@contextmanager
def kazoo_client(connect: str) -> Iterator[Any]:
    client = KazooClient(connect)
    client.start()
    try:
        yield client
    finally:
        client.stop()
        client.close()


def stored_image(cluster: RunningCluster) -> Image:
    """The metadata that is in ZooKeeper."""
    return asyncio.run(load_image(cluster))


async def load_image(cluster: RunningCluster) -> Image:
    async def run_job(job: Callable[[], Any]) -> Any:
        return await asyncio.to_thread(job)

    service = await open_service(
        ConnectString.parse(cluster.zookeeper_connect),
        run_job,
        session_timeout_ms=10_000,
        connection_timeout_ms=10_000,
    )
    try:
        return await ZooKeeperMetadataLog(service, run_job, lambda: "").load(KnownState())
    finally:
        await service.close()
