"""Leaders of partitions and their addresses, for responses that redirect clients (KIP-951)."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from ottla.handlers.serving.context import Context


class BrokerAddress(NamedTuple):
    id: int
    host: str
    port: int
    rack: str | None


def current_leader(context: Context, topic: str, partition: int) -> tuple[int, int]:
    """(leader, leader epoch); (-1, -1) if the partition is unknown."""
    found = context.parts.metadata.partition(topic, partition)
    return (-1, -1) if found is None else (found.leader, found.leader_epoch)


def leader_endpoints(context: Context, leaders: Iterable[int]) -> list[BrokerAddress]:
    """The endpoints of leaders that can be reached, in the order of their ids."""
    found = (live_broker(context, each) for each in sorted(set(leaders)))
    return [each for each in found if each is not None]


def live_brokers(context: Context) -> list[BrokerAddress]:
    """Brokers that can be reached, by the address that the client's listener advertises."""
    found = (live_broker(context, each) for each in context.parts.metadata.brokers)
    return [each for each in found if each is not None]


def live_broker(context: Context, broker_id: int) -> BrokerAddress | None:
    """The same for one of them; None if it cannot be reached."""
    broker = context.parts.metadata.brokers.get(broker_id)
    if broker is None or broker.is_fenced:
        return None
    endpoint = broker.endpoint(context.peer.listener)
    if endpoint is None:
        return None
    return BrokerAddress(broker.id, endpoint.host, endpoint.port, broker.rack)
