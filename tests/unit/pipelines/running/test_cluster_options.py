"""How long commands wait for a cluster."""

from __future__ import annotations

from ottla.pipelines.declaration.tree import ClusterAddress
from ottla.pipelines.running.cluster_options import (
    INTERACTIVE_TIMEOUT_MS,
    client_settings,
    interactive_settings,
)


def test_an_interactive_command_gives_up_earlier_than_a_pipeline() -> None:
    cluster = ClusterAddress("localhost:9092")
    assert interactive_settings(cluster).default_api_timeout_ms == INTERACTIVE_TIMEOUT_MS
    assert client_settings(cluster).default_api_timeout_ms > INTERACTIVE_TIMEOUT_MS


def test_a_timeout_in_the_file_holds_for_both() -> None:
    cluster = ClusterAddress("localhost:9092", {"default.api.timeout.ms": "90000"})
    assert interactive_settings(cluster).default_api_timeout_ms == 90_000
    assert client_settings(cluster).default_api_timeout_ms == 90_000
