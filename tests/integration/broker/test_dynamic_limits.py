"""Limits on connections that are set while the broker runs."""

from __future__ import annotations

from contextlib import ExitStack

from tests.support.raw_client import RawClient

from ottla.protocol.messages.api_versions_request import ApiVersionsRequest
from ottla.protocol.messages.incremental_alter_configs_request import (
    AlterableConfig,
    AlterConfigsResource,
    IncrementalAlterConfigsRequest,
)
from ottla.testing.broker import RunningBroker

BROKER = 4
SET, DELETE = 0, 1
MANY = 8


def alter(client: RawClient, operation: int, value: str | None) -> None:
    """`max.connections.per.ip` of all brokers."""
    config = AlterableConfig("max.connections.per.ip", operation, value)
    resource = AlterConfigsResource(BROKER, "", [config])
    (answer,) = client.ask(IncrementalAlterConfigsRequest([resource]), 1).responses
    assert answer.error_code == 0, answer


def served(broker: RunningBroker, clients: ExitStack, most: int) -> list[RawClient]:
    """Connections that are answered, until one is refused or there are enough."""
    found: list[RawClient] = []
    while len(found) < most:
        client = clients.enter_context(RawClient(broker.bootstrap_servers))
        try:
            client.ask(ApiVersionsRequest(), 0)
        except ConnectionError:
            break
        found.append(client)
    return found


def test_a_limit_set_for_all_brokers_holds_at_once_and_after_a_crash_until_it_is_taken_back() -> (
    None
):
    with RunningBroker() as broker:
        with ExitStack() as clients:
            (admin,) = served(broker, clients, most=1)
            alter(admin, SET, "5")
            assert 1 + len(served(broker, clients, MANY)) == 5
            broker.kill()
        broker.start()
        with ExitStack() as clients:
            admin, *others = served(broker, clients, MANY)
            assert 1 + len(others) == 5
            alter(admin, DELETE, None)
            assert len(served(broker, clients, MANY)) == MANY
