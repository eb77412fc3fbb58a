"""What a handler is given besides the request: who asks, and the parts of the broker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ottla.protocol.api_keys import ApiKey

if TYPE_CHECKING:
    from ottla.handlers.parts import Parts


@dataclass(slots=True)
class Peer:
    """The other end of a connection, as far as requests have told."""

    listener: str
    host: str
    port: int
    principal: str = "User:ANONYMOUS"
    software_name: str = "unknown"
    software_version: str = "unknown"


class Context:
    """One request."""

    __slots__ = ("client_id", "key", "parts", "peer", "throttle_ms", "version")

    def __init__(
        self, parts: Parts, peer: Peer, key: ApiKey, version: int, client_id: str | None
    ) -> None:
        self.parts = parts
        self.peer = peer
        self.key = key
        self.version = version
        self.client_id = client_id
        self.throttle_ms = 0
