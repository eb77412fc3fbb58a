"""Faults in a broker's answers: error codes, late answers, connections that are closed instead.

Owns      the rules, and how many requests of each API have come.
Promises  a rule applies to the `nth` request of its API from when it was made, and to the `times`
          that follow. The first rule that applies decides; others count the request nevertheless.
"""

from __future__ import annotations

import asyncio
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from ottla.handlers.serving.dispatch import find_handler
from ottla.network.request_server import Answer, RequestServer, Served, TakingEffect
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.headers import (
    decode_request_header,
    decode_response_header,
    encode_request,
    encode_response,
)
from ottla.protocol.messages.metadata_request import MetadataRequest
from ottla.protocol.messages.metadata_response import MetadataResponse

if TYPE_CHECKING:
    from ottla.network.connection import Connection

CREATION_IS_OPTIONAL_FROM = 4  # version of Metadata


@dataclass(slots=True)
class Rule:
    """What happens to some requests of one API."""

    api: ApiKey
    kind: str  # "fail", "delay", "drop" (carried out, no answer) or "refuse" (not even that)
    nth: int  # requests of the API until the first one, which counts as 1
    times: int | None  # how many; None means all from then on
    error: ErrorCode = ErrorCode.NONE
    seconds: float = 0.0

    def applies(self, api: ApiKey) -> bool:
        """Count a request; whether the rule is for this one."""
        if api != self.api or self.times == 0:
            return False
        self.nth -= 1
        if self.nth > 0:
            return False
        if self.times is not None:
            self.times -= 1
        return True


class FaultyServer:
    """Serves requests as another server does, but for those that a rule is for."""

    def __init__(self, server: RequestServer) -> None:
        self._server = server
        self.rules: list[Rule] = []
        self.requests: Counter[str] = Counter()  # by the name of the API

    def opened(self, connection: Connection) -> None:
        self._server.opened(connection)

    def closed(self, connection: Connection) -> None:
        self._server.closed(connection)

    def serve(self, frame: memoryview, connection: Connection) -> Served:
        api = ApiKey(decode_request_header(frame)[0])
        self.requests[api.name] += 1
        applying = [rule for rule in self.rules if rule.applies(api)]
        if not applying:
            return self._server.serve(frame, connection)
        rule = applying[0]
        if rule.kind == "fail" and api == ApiKey.METADATA:
            served = self._server.serve(without_creation(frame), connection)
            return TakingEffect(failed_metadata(frame, served, rule.error))
        if rule.kind == "fail":
            return failed(frame, rule.error)
        if rule.kind == "refuse":
            return closed(connection)
        served = self._server.serve(frame, connection)
        if rule.kind == "drop":
            return TakingEffect(closed_behind(served, connection))
        return TakingEffect(delayed(served, rule.seconds))


def failed(frame: memoryview, error: ErrorCode) -> Answer:
    """The whole request is refused with this code; it has no effect."""
    key, version, correlation_id, _client_id, at = decode_request_header(frame)
    handler = find_handler(key, version)
    assert handler is not None, "a version that is not announced"
    request: Any = handler.request.decode_prefix(frame, version, at)[0]
    if key == ApiKey.PRODUCE and request.acks == 0:
        return Answer([])  # the client wants no answer
    response = handler.refuse(request, error, "a fault that the test asked for", version)
    return Answer(encode_response(key, version, correlation_id, response))


def without_creation(frame: memoryview) -> memoryview:
    """The Metadata request, but it creates no topics (before version 4 it always may)."""
    key, version, correlation_id, client_id, at = decode_request_header(frame)
    request = MetadataRequest.decode_prefix(frame, version, at)[0]
    if version >= CREATION_IS_OPTIONAL_FROM:
        request.allow_auto_topic_creation = False
    return joined(encode_request(key, version, correlation_id, client_id, request))


async def failed_metadata(frame: memoryview, served: Served, error: ErrorCode) -> Answer:
    """The code for every topic, and the brokers as they are: without brokers, clients would look
    for another cluster instead of handling the error.
    """
    key, version, correlation_id, _client_id, _at = decode_request_header(frame)
    answer = joined((await answer_of(served)).segments)
    _, at = decode_response_header(key, version, answer)
    response = MetadataResponse.decode_prefix(answer, version, at)[0]
    for topic in response.topics:
        topic.error_code = error
        topic.partitions = []
    return Answer(encode_response(key, version, correlation_id, response))


def joined(segments: list[Any]) -> memoryview:
    """A frame without its length."""
    return memoryview(b"".join(segments))[4:]


async def delayed(served: Served, seconds: float) -> Answer:
    """The request is carried out at once, and answered later."""
    answer = await answer_of(served)
    await asyncio.sleep(seconds)
    return answer


async def closed_behind(served: Served, connection: Connection) -> Answer:
    """The request is carried out, and its client gets no response."""
    await answer_of(served)
    return closed(connection)


def closed(connection: Connection) -> Answer:
    connection.close("a fault that the test asked for")
    return Answer([])


async def answer_of(served: Served) -> Answer:
    while not isinstance(served, Answer):
        served = await served.answer
    return served
