"""FindCoordinator (key 10), versions 0 to 6: which broker coordinates a group or a transaction.

v1 key types, throttle time · v3 flexible encoding · v4 several keys · v5 TRANSACTION_ABORTABLE ·
v6 share groups, which are not served
The first request creates the internal topic of the coordinator, and waits for it.
"""

from __future__ import annotations

from typing import Protocol

from ottla.base.scheduling.steps import Steps
from ottla.coordinators.internal_topic import InternalTopic
from ottla.handlers.partitions.leaders import BrokerAddress, live_broker
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.large_responses import build_at_once, may_build_at_once
from ottla.handlers.serving.registry import Deferred, handles
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.find_coordinator_request import FindCoordinatorRequest
from ottla.protocol.messages.find_coordinator_response import (
    Coordinator,
    FindCoordinatorResponse,
)

SEVERAL_FROM = 4
GROUP = 0
TRANSACTION = 1
COORDINATOR_BYTES = 16  # besides its key and host
KEYS_AT_ONCE = 50  # more are looked up in slices


class Coordinating(Protocol):
    """What the coordinators of groups and transactions have in common."""

    topic: InternalTopic


def refuse_find(
    request: FindCoordinatorRequest, code: ErrorCode, message: str, version: int
) -> FindCoordinatorResponse:
    if version >= SEVERAL_FROM:
        error = BrokerError(code, message)
        return FindCoordinatorResponse(
            coordinators=[refused(key, error) for key in request.coordinator_keys]
        )
    return FindCoordinatorResponse(
        error_code=code, error_message=message or None, node_id=-1, port=-1
    )


@handles(ApiKey.FIND_COORDINATOR, refuse_in_version=refuse_find)
def find_coordinator(
    request: FindCoordinatorRequest, context: Context
) -> FindCoordinatorResponse | Deferred | Steps[FindCoordinatorResponse]:
    topic = topic_of(request.key_type, context)
    if not topic.is_ready:
        return Deferred(answer_later(request, topic, context))
    answering = answer(request, topic, context)
    few = len(request.coordinator_keys) <= KEYS_AT_ONCE and may_build_at_once(context)
    return build_at_once(answering, context) if few else answering


def topic_of(key_type: int, context: Context) -> InternalTopic:
    parts = context.parts
    found: dict[int, Coordinating] = {GROUP: parts.groups, TRANSACTION: parts.transactions}
    if key_type not in found:
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"no coordinators of type {key_type}")
    return found[key_type].topic


async def answer_later(
    request: FindCoordinatorRequest, topic: InternalTopic, context: Context
) -> FindCoordinatorResponse:
    await topic.ensure()
    return await context.parts.large_responses.build(answer(request, topic, context), context)


def answer(
    request: FindCoordinatorRequest, topic: InternalTopic, context: Context
) -> Steps[FindCoordinatorResponse]:
    if context.version < SEVERAL_FROM:
        leader = address_of(request.key, topic, context)
        return FindCoordinatorResponse(
            error_message=None, node_id=leader.id, host=leader.host, port=leader.port
        )
    found: dict[str, Coordinator] = {}
    coordinators = []
    for key in request.coordinator_keys:
        if key not in found:
            found[key] = find(key, topic, context)
        coordinators.append(found[key])
        yield COORDINATOR_BYTES + len(key) + len(found[key].host)
    return FindCoordinatorResponse(coordinators=coordinators)


def find(key: str, topic: InternalTopic, context: Context) -> Coordinator:
    try:
        leader = address_of(key, topic, context)
    except BrokerError as error:
        return refused(key, error)
    return Coordinator(key, leader.id, leader.host, leader.port, error_message=None)


def refused(key: str, error: BrokerError) -> Coordinator:
    return Coordinator(key, -1, "", -1, error.code, error.message or None)


def address_of(key: str, topic: InternalTopic, context: Context) -> BrokerAddress:
    """The address of the coordinator on the client's listener."""
    found = live_broker(context, topic.leader_of(key))
    if found is None:
        raise BrokerError(ErrorCode.COORDINATOR_NOT_AVAILABLE)
    return found
