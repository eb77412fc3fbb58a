"""Requests that the controller decides: large ones in a thread, all with bounded results."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

from ottla.controller.decision import Decision, check_size
from ottla.controller.state import ControllerState
from ottla.handlers.serving.context import Context

T = TypeVar("T")
# Up to this size a request is decided on the event loop: about fifty items, in some milliseconds. A
# thread costs a tenth of a millisecond.
SMALL_REQUEST_BYTES = 1000


async def decide(
    context: Context, decide: Callable[[ControllerState], Decision[T]], *, is_large: bool = False
) -> T:
    """The controller's result. BrokerError if the decision has more records than a batch may have.

    `is_large` is for small requests with a long decision.
    """
    if is_large or context.request_bytes > SMALL_REQUEST_BYTES:
        context.is_large = True  # its response is encoded in a thread, too
    return await context.parts.controller.decide(
        lambda state: check_size(decide(state)), is_large=context.is_large, is_confirmed=True
    )
