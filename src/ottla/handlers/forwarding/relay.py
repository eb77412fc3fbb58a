"""Passing a request on to the controller: what is sent, and what comes back.

An Envelope carries the frame of the request, the client's principal and address. Between brokers of
Ottla its two fields of bytes begin with fields of our own: which broker has received the request;
and, in the response, the offset of the metadata log that contains the decision, so that the broker
that passed it on can wait until its own image has it too, and the client's throttle time.
"""

from __future__ import annotations

import struct
from collections.abc import Awaitable, Callable
from typing import NamedTuple, Protocol, Self, TypeVar

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.errors import MalformedMessage
from ottla.protocol.message import UnsupportedVersion
from ottla.protocol.messages.default_principal_data import DefaultPrincipalData
from ottla.protocol.messages.envelope_request import EnvelopeRequest

FORWARDED = frozenset(
    {
        ApiKey.CREATE_TOPICS,
        ApiKey.DELETE_TOPICS,
        ApiKey.CREATE_PARTITIONS,
        ApiKey.ALTER_CONFIGS,
        ApiKey.INCREMENTAL_ALTER_CONFIGS,
        ApiKey.ALTER_CLIENT_QUOTAS,
        ApiKey.ALTER_PARTITION_REASSIGNMENTS,
        ApiKey.ELECT_LEADERS,
        ApiKey.UPDATE_FEATURES,
        ApiKey.UNREGISTER_BROKER,
    }
)
# Its handler passes on what is not about the loggers of the broker itself.
FORWARDED_IN_PART = frozenset({ApiKey.INCREMENTAL_ALTER_CONFIGS})
FORWARDED_WHOLE = FORWARDED - FORWARDED_IN_PART
T = TypeVar("T")
_PRINCIPAL_VERSION = 0
_RECEIVED_BY = struct.Struct(">i")
_ANSWER_HEAD = struct.Struct(">qi")  # offset of the metadata log, throttle time


class ForwardedClient(NamedTuple):
    """The client that has sent a request."""

    principal: str  # TYPE:NAME
    host: str
    client_id: str | None = None


BROKER = ForwardedClient("Broker:", "")  # a broker itself: no quota applies


class ForwardedRequest(NamedTuple):
    frame: bytes  # without its size
    client: ForwardedClient
    received_by: int  # the broker

    def to_envelope(self) -> EnvelopeRequest:
        kind, _, name = self.client.principal.partition(":")
        principal = DefaultPrincipalData(kind, name).encode(_PRINCIPAL_VERSION)
        return EnvelopeRequest(
            _RECEIVED_BY.pack(self.received_by) + self.frame,
            _PRINCIPAL_VERSION.to_bytes(2, "big") + principal,
            self.client.host.encode(),
        )

    @classmethod
    def from_envelope(cls, envelope: EnvelopeRequest) -> Self:
        if len(envelope.request_data) < _RECEIVED_BY.size or not envelope.request_principal:
            raise MalformedMessage("an envelope without a request or a principal")
        (received_by,) = _RECEIVED_BY.unpack_from(envelope.request_data)
        try:
            data = DefaultPrincipalData.decode_prefixed(envelope.request_principal)
        except UnsupportedVersion as error:
            raise MalformedMessage(f"the principal of an envelope: {error}") from error
        host = bytes(envelope.client_host_address).decode(errors="replace")
        client = ForwardedClient(f"{data.type}:{data.name}", host)
        return cls(bytes(envelope.request_data[_RECEIVED_BY.size :]), client, received_by)


class ForwardedAnswer(NamedTuple):
    frame: bytes  # with its size, as the client gets it
    metadata_offset: int
    throttle_ms: int

    def encode(self) -> bytes:
        return _ANSWER_HEAD.pack(self.metadata_offset, self.throttle_ms) + self.frame

    @classmethod
    def decode(cls, data: bytes | None) -> Self:
        if data is None or len(data) < _ANSWER_HEAD.size:
            raise MalformedMessage("an envelope without a response")
        offset, throttle_ms = _ANSWER_HEAD.unpack_from(data)
        return cls(bytes(data[_ANSWER_HEAD.size :]), offset, throttle_ms)


class Relay(Protocol):
    """Passes requests on to the controller, whichever broker that is."""

    async def forward(
        self, request: ForwardedRequest, here: Callable[[], Awaitable[T]]
    ) -> ForwardedAnswer | T:
        """The controller's answer, when the published image contains its decision; that of `here`
        if this broker is the controller. Both are repeated after NOT_CONTROLLER. BrokerError if
        there was no controller in time."""
