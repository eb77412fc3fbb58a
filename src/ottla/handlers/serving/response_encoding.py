"""From the response of a handler to a frame, and from an error to the response that reports it.

Promises  every error becomes a response in the version of the request. A large response is encoded
          in a thread, and its size is checked before it is sent.
Leaves    which outcome waits for what to `dispatch.py`.
"""

from __future__ import annotations

import logging
from collections.abc import Awaitable
from functools import partial

from ottla.base.memory.stored_errors import without_traceback
from ottla.base.memory.suspended import values_in_traceback
from ottla.handlers.quotas.request_time import charge_time, note_rest
from ottla.handlers.serving.context import Context
from ottla.handlers.serving.disposal import Pieces, pieces_of, pieces_of_values
from ottla.handlers.serving.large_responses import check_size, close_account
from ottla.handlers.serving.registry import Handler
from ottla.network.request_server import Answer
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.headers import encode_response
from ottla.protocol.message import FrameSegment, Message
from ottla.storage.files.file_range import FileRange

log = logging.getLogger(__name__)


async def answer_and_close_account(context: Context, answering: Awaitable[Answer]) -> Answer:
    """From here on the network counts the memory of the response."""
    try:
        return await answering
    finally:
        close_account(context)


def encode_answer(response: Message | None, context: Context) -> Answer:
    """The frame; empty without a response (acks=0)."""
    if context.began_s is not None:
        charge_time(context)
    if response is None:
        return Answer([], context.throttle_ms)
    if context.throttle_ms:
        set_throttle_time(response, context)
    segments = encode_response(context.key, context.version, context.correlation_id, response)
    if context.charged_s is not None:
        note_rest(context)
    return Answer(segments, context.throttle_ms)


async def encode_large(
    handler: Handler, request: Message, context: Context, response: Message | None
) -> Answer:
    """As `encode_answer`, in a thread: there are no other references to the response."""
    charge_time(context)
    if response is None:
        return Answer([], context.throttle_ms)
    if context.account is not None:
        await context.account.advance()
    segments, pieces = await context.parts.scheduler.in_thread(
        partial(encode_and_cut, request, response, context)
    )
    context.parts.disposal.take(pieces)
    held = (segment for segment in segments if not isinstance(segment, FileRange))
    try:
        check_size(sum(map(len, held)), context.parts.config.broker.ottla_response_bytes_max)
    except BrokerError as error:
        return await refuse_large(handler, request, context, error)
    return Answer(segments, context.throttle_ms)


def encode_and_cut(
    request: Message, response: Message, context: Context
) -> tuple[list[FrameSegment], Pieces]:
    """May be called in any thread."""
    set_throttle_time(response, context)
    segments = encode_response(context.key, context.version, context.correlation_id, response)
    return segments, pieces_of(request) + pieces_of(response)


def set_throttle_time(response: Message, context: Context) -> None:
    if context.throttle_ms and hasattr(response, "throttle_time_ms"):
        response.throttle_time_ms = context.throttle_ms


async def refuse_large(
    handler: Handler, request: Message, context: Context, error: Exception
) -> Answer:
    """For many items without an error message, which would be repeated for each of them."""
    values = values_in_traceback(error)  # freed below, and not with the traceback
    error = storable(error)
    if isinstance(error, BrokerError) and context.has_many_items:
        error = BrokerError(error.code)
    if context.on_refusal is not None:
        context.on_refusal()
    charge_time(context)
    in_thread, disposal = context.parts.scheduler.in_thread, context.parts.disposal
    response = await in_thread(partial(refusal, handler, request, context, error))
    disposal.take(await in_thread(partial(pieces_of_values, values)))
    segments, pieces = await in_thread(partial(encode_and_cut, request, response, context))
    disposal.take(pieces)
    return Answer(segments, context.throttle_ms)


def refuse(handler: Handler, request: Message, context: Context, error: Exception) -> Message:
    if context.on_refusal is not None:
        context.on_refusal()
    return refusal(handler, request, context, error)


def storable(error: Exception) -> Exception:
    """An error that a coroutine keeps: with a traceback, it would be part of a reference cycle with
    the request. The traceback of a bug is logged."""
    return without_traceback(error) if isinstance(error, BrokerError) else error


def refusal(handler: Handler, request: Message, context: Context, error: Exception) -> Message:
    """The response for an exception. Only here every exception is caught.

    The traceback is removed: the future that raised the error is a local variable of one of its
    frames, and this reference cycle would keep the request, forever if the collector has frozen it.
    """
    code, message = ErrorCode.UNKNOWN_SERVER_ERROR, ""
    if isinstance(error, BrokerError):
        code, message = error.code, error.message
    else:
        log.error("bug while handling %s v%s", context.key.name, context.version, exc_info=error)
    without_traceback(error)
    return handler.refuse(request, code, message, context.version)
