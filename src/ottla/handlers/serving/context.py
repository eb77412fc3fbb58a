"""What a handler gets besides the request: the client, and the parts of the broker."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from ottla.handlers.forwarding.relay import BROKER
from ottla.protocol.api_keys import ApiKey

if TYPE_CHECKING:
    from collections.abc import Callable

    from ottla.handlers.serving.large_responses import LargeResponseAccount
    from ottla.handlers.serving.parts import Parts

THROTTLE_MS_MAX = 2**31 - 1  # the largest value of the field


@dataclass(slots=True)
class Peer:
    """The client of a connection."""

    listener: str
    host: str
    port: int
    principal: str = "User:ANONYMOUS"
    software_name: str = "unknown"
    software_version: str = "unknown"
    is_disconnected: bool = False  # its connection has ended
    received_by: int | None = None  # the broker that has passed its request on; None for this one

    @property
    def user(self) -> str:
        """The name of the principal, without its type."""
        return self.principal.partition(":")[2]

    @property
    def is_broker(self) -> bool:
        """Whether a broker asks on its own behalf."""
        return self.principal == BROKER.principal


class Context:
    """One request."""

    __slots__ = (
        "account",
        "began_s",
        "charged_s",
        "client_id",
        "correlation_id",
        "has_many_items",
        "is_large",
        "key",
        "on_refusal",
        "parts",
        "peer",
        "request_bytes",
        "spent_s",
        "throttle_ms",
        "version",
    )

    def __init__(
        self,
        parts: Parts,
        peer: Peer,
        key: ApiKey,
        version: int,
        correlation_id: int,
        client_id: str | None,
        request_bytes: int = 0,
    ) -> None:
        self.parts = parts
        self.peer = peer
        self.key = key
        self.version = version
        self.correlation_id = correlation_id
        self.client_id = client_id
        self.request_bytes = request_bytes
        self.throttle_ms = 0
        self.is_large = False  # its response is encoded in a thread
        self.has_many_items = False  # it was decoded in a thread
        self.account: LargeResponseAccount | None = (
            None  # the memory of its response, if that is large
        )
        self.on_refusal: Callable[[], None] | None = (
            None  # undoes what is only visible in the response
        )
        self.began_s: float | None = None  # start of the time to charge, until it is charged
        self.spent_s = 0.0  # before `began_s`
        self.charged_s: float | None = None  # when the time was charged

    @property
    def received_by(self) -> int:
        """The broker that the client has sent the request to."""
        received_by = self.peer.received_by
        return self.parts.broker_id if received_by is None else received_by

    def throttle(self, wait_ms: int) -> None:
        """Do not read from the client for this long after the response; the longest applies."""
        self.throttle_ms = min(max(self.throttle_ms, wait_ms), THROTTLE_MS_MAX)
