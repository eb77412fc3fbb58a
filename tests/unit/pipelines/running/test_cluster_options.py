"""How long commands wait for a cluster."""

from __future__ import annotations

from ottla.pipelines.declaration.tree import ClusterAddress
from ottla.pipelines.running.cluster_options import (
    ATTENDED_TIMEOUT_MS,
    attended_settings,
    client_settings,
)


def test_a_command_that_somebody_waits_for_gives_up_earlier_than_a_pipeline() -> None:
    cluster = ClusterAddress("localhost:9092")
    assert attended_settings(cluster).default_api_timeout_ms == ATTENDED_TIMEOUT_MS
    assert client_settings(cluster).default_api_timeout_ms > ATTENDED_TIMEOUT_MS


def test_a_timeout_in_the_file_holds_for_both() -> None:
    cluster = ClusterAddress("localhost:9092", {"default.api.timeout.ms": "90000"})
    assert attended_settings(cluster).default_api_timeout_ms == 90_000
    assert client_settings(cluster).default_api_timeout_ms == 90_000
