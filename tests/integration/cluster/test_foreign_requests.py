"""Requests between brokers that no broker has sent: with one listener for all, clients can."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from tests.integration.cluster.harness import ask, controller_of, others, stored_image

from ottla.base.uuids import random_uuid
from ottla.metadata.features import SUPPORTED
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.messages.broker_heartbeat_request import BrokerHeartbeatRequest
from ottla.protocol.messages.broker_registration_request import (
    BrokerRegistrationRequest,
    Feature,
    Listener,
)
from ottla.protocol.messages.envelope_request import EnvelopeRequest
from ottla.testing.cluster import RunningCluster

pytestmark = pytest.mark.xdist_group("cluster-foreign-requests")


@pytest.fixture(scope="module")
def cluster() -> Iterator[RunningCluster]:
    with RunningCluster(2) as running:
        yield running


def registration(cluster: RunningCluster, broker_id: int, **changes: Any) -> Any:
    """As a broker sends it, but without a ZooKeeper session."""
    fields = {
        "broker_id": broker_id,
        "cluster_id": stored_image(cluster).cluster_id,
        "incarnation_id": random_uuid(),
        "listeners": [Listener("PLAINTEXT", "localhost", 1, 0)],
        "features": [Feature(name, *versions) for name, versions in SUPPORTED.items()],
        "log_dirs": [random_uuid()],
    }
    return BrokerRegistrationRequest(**{**fields, **changes})


@pytest.mark.parametrize("broker_id", [2, 999, -5])
def test_a_broker_without_a_session_is_not_registered(
    cluster: RunningCluster, broker_id: int
) -> None:
    request = registration(cluster, broker_id)
    response = ask(cluster, controller_of(cluster), request)
    assert response.error_code == ErrorCode.DUPLICATE_BROKER_REGISTRATION
    assert set(stored_image(cluster).brokers) == {1, 2}


def test_a_broker_is_not_fenced_by_a_heartbeat_of_another_epoch(cluster: RunningCluster) -> None:
    controller, other = controller_of(cluster), others(cluster)[0]
    before = stored_image(cluster).offset
    for epoch in (-1, 0, 2**62):
        heartbeat = BrokerHeartbeatRequest(other, epoch, 0, want_fence=True)
        response = ask(cluster, controller, heartbeat)
        assert response.error_code == ErrorCode.STALE_BROKER_EPOCH
    assert stored_image(cluster).offset == before


def test_an_envelope_with_an_unknown_principal_ends_its_connection_only(
    cluster: RunningCluster,
) -> None:
    envelope = EnvelopeRequest(bytes(100), b"\x7d\x4f" + bytes(30), b"")
    with pytest.raises(ConnectionError):
        ask(cluster, controller_of(cluster), envelope)
    assert all("Traceback" not in each.log for each in cluster.brokers.values())
