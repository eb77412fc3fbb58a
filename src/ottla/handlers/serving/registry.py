"""Which function serves which API.

`served_apis.py` lists the APIs; their versions come from the schemas. A handler's module is loaded
with its first request, so that the broker starts quickly. A test checks that the list and the
handlers agree.
"""

from __future__ import annotations

import inspect
from collections.abc import Awaitable, Callable
from functools import cache
from importlib import import_module
from typing import Any, NamedTuple, TypeVar

from ottla.base.scheduling.steps import Steps
from ottla.handlers.serving.pending import PendingResponse
from ottla.handlers.serving.served_apis import INTER_BROKER, SERVED
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.message import Message
from ottla.protocol.messages import request_class, response_class


class Deferred(NamedTuple):
    """Returned by a plain handler whose request has not taken effect yet. It has when the answer is
    known, be it a `PendingResponse`."""

    answer: Awaitable[Message | PendingResponse | None]


Outcome = Message | None | PendingResponse | Awaitable[Message | None] | Deferred
HandlerFunction = Callable[[Any, Any], Outcome | Steps[Outcome]]
Refusal = Callable[[Any, ErrorCode, str], Message]
RefusalInVersion = Callable[[Any, ErrorCode, str, int], Message]
F = TypeVar("F", bound=HandlerFunction)


class Handler(NamedTuple):
    key: ApiKey
    request: type[Message]
    function: HandlerFunction
    refuse: RefusalInVersion  # builds the response if the whole request is refused
    is_deferred: bool  # an `async def` takes effect when it is done


_handlers: dict[ApiKey, Handler] = {}


def handles(
    key: ApiKey,
    refuse: Refusal | None = None,
    *,
    refuse_in_version: RefusalInVersion | None = None,
) -> Callable[[F], F]:
    """Declare a function as the handler of an API.

    A plain function has taken effect when it returns; if it returns an awaitable, only the
    response is still to come. With an `async def` the connection's next request waits until it
    is done.
    A generator (`Steps`) is for work that grows with the request or with what the broker holds: it
    yields after each item, by how many bytes its response has grown, and returns what a plain
    function would. It may be abandoned at any yield, so what must be done together is done
    between two of them, or in the awaitable that it returns.
    `refuse_in_version` is for errors whose field depends on the version.
    """

    def register(function: F) -> F:
        is_deferred = inspect.iscoroutinefunction(function)
        refusal = refuse_in_version or in_any_version(refuse or top_level_refusal(key))
        _handlers[key] = Handler(key, request_class(key), function, refusal, is_deferred)
        return function

    return register


@cache
def handler_of(key: ApiKey) -> Handler:
    import_module(f"ottla.handlers.{(SERVED.get(key) or INTER_BROKER[key]).module}")
    return _handlers[key]


def in_any_version(refuse: Refusal) -> RefusalInVersion:
    return lambda request, code, message, _version: refuse(request, code, message)


def top_level_refusal(key: ApiKey) -> Refusal:
    """For responses with one error code for the whole request."""

    def refuse(_request: Message, code: ErrorCode, message: str) -> Message:
        response: Any = response_class(key)()
        response.error_code = code
        if hasattr(response, "error_message"):
            response.error_message = message or None
        return response  # type: ignore[no-any-return]

    return refuse
