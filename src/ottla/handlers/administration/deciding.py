"""Requests that the controller decides: large ones in a thread, all of them within bounds."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ottla.controller.decision import Decision, check_size
from ottla.controller.state import State
from ottla.handlers.serving.context import Context

T = TypeVar("T")
# Of a request that is decided on the event loop: about fifty items, in some milliseconds. A thread
# costs a tenth of one.
SMALL_REQUEST_BYTES = 1000


async def decide(
    context: Context, decide: Callable[[State], Decision[T]], *, is_large: bool = False
) -> T:
    """The controller's answer. BrokerError where the decision has more records than a batch may.

    `is_large` is for requests whose decision takes long although they are short.
    """
    if is_large or context.request_bytes > SMALL_REQUEST_BYTES:
        context.is_large = True  # so its response is encoded in a thread, too
    return await context.parts.controller.decide(
        lambda state: check_size(decide(state)), is_large=context.is_large
    )
