"""Real brokers for tests, and doubles that can fail: a disk and a clock.

    from ottla.testing import Broker

    with Broker() as broker:
        producer = Producer({"bootstrap.servers": broker.bootstrap_servers})

`Cluster` is several of them, with ZooKeeper. Projects that use pytest need not even import it: the
fixtures `kafka_broker`, `kafka_cluster` and `kafka` are there once ottla is installed
(`plugin.py`).
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ottla.testing.async_broker import AsyncBroker as AsyncBroker
    from ottla.testing.broker import BrokerFailed as BrokerFailed
    from ottla.testing.broker import RunningBroker as Broker
    from ottla.testing.cluster import RunningCluster as Cluster
    from ottla.testing.controls import BrokerClock as BrokerClock
    from ottla.testing.controls import BrokerFaults as BrokerFaults
    from ottla.testing.kafka import Kafka as Kafka
    from ottla.testing.records import Record as Record

# Imported when first asked for: pytest loads this package in every run, used or not.
_PLACES = {
    "AsyncBroker": ("async_broker", "AsyncBroker"),
    "Broker": ("broker", "RunningBroker"),
    "BrokerClock": ("controls", "BrokerClock"),
    "BrokerFailed": ("broker", "BrokerFailed"),
    "BrokerFaults": ("controls", "BrokerFaults"),
    "Cluster": ("cluster", "RunningCluster"),
    "Kafka": ("kafka", "Kafka"),
    "Record": ("records", "Record"),
}

__all__ = [
    "AsyncBroker",
    "Broker",
    "BrokerClock",
    "BrokerFailed",
    "BrokerFaults",
    "Cluster",
    "Kafka",
    "Record",
]


def __getattr__(name: str) -> Any:
    if name not in _PLACES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    module, attribute = _PLACES[name]
    return getattr(import_module(f"{__name__}.{module}"), attribute)
