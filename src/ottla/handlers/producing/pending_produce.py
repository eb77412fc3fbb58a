"""The response to a Produce request that waits for acknowledgements, without a task or a future.

Owns      the waiters of the request: they are removed when it is answered or its client leaves.
Leaves    the appends, and what the acknowledgements change in the response, to `operation.py`.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ottla.handlers.serving.pending import Done, PendingResponse
from ottla.protocol.messages.produce_response import ProduceResponse

if TYPE_CHECKING:
    from ottla.handlers.producing.operation import ProduceOperation


class PendingProduce(PendingResponse):
    """Waits until every append is acknowledged, or the timeout of the request has passed."""

    __slots__ = ("_acknowledgements", "_done", "_operation", "_response")

    def __init__(self, operation: ProduceOperation, response: ProduceResponse) -> None:
        self._operation = operation
        self._response = response
        self._acknowledgements = operation.acknowledgements()
        self._done: Done | None = None

    def begin(self, done: Done) -> None:
        self._done = done
        acknowledgements = self._acknowledgements
        for _ in self._operation.registering(acknowledgements):
            pass
        acknowledgements.await_all(self._known, self._operation.timeout_ms)

    def cancel(self) -> None:
        self._done = None
        self._acknowledgements.leave()

    def _known(self) -> None:
        """In a later iteration of the event loop: one fetch of a follower may acknowledge thousands
        of requests."""
        self._operation.context.parts.wake_ups.add(self._respond)

    def _respond(self) -> None:
        done, self._done = self._done, None
        if done is None:
            return
        self._acknowledgements.leave()
        try:
            for _ in self._operation.noting(self._acknowledgements, self._response):
                pass
        except Exception as error:
            done(None, error)
        else:
            done(self._response, None)
