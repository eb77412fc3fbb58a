"""Requests to one broker, past the network under test, with a short deadline."""

from __future__ import annotations

from typing import Any

from tests.integration.cluster.harness import newest
from tests.support.raw_client import RawClient

from ottla.protocol.message import Message
from ottla.protocol.messages.metadata_request import MetadataRequest, MetadataRequestTopic

TIMEOUT_S = 5.0


class QuickClient(RawClient):
    """It waits for seconds, not for minutes: the broker may be paused."""

    def __init__(self, bootstrap: str, timeout_s: float = TIMEOUT_S, name: str = "chaos") -> None:
        super().__init__(bootstrap, name)
        self._socket.settimeout(timeout_s)


def ask(address: str, request: Message, version: int = -1, timeout_s: float = TIMEOUT_S) -> Any:
    """The answer of this broker; OSError if there is none. Version -1 is the newest."""
    with QuickClient(address, timeout_s) as client:
        return client.ask(request, newest(request) if version < 0 else version)


def metadata(address: str, *topics: str) -> Any:
    """Of these topics, or of all."""
    named = [MetadataRequestTopic(name=each) for each in topics] if topics else None
    return ask(address, MetadataRequest(named, allow_auto_topic_creation=False))
