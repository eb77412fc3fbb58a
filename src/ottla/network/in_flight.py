"""Requests in flight: begun and not answered. Their responses leave in the order of the requests.

Pure: a response is put in when it is ready, and taken out when all before it have been.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from ottla.network.request_server import Answer, memory_bytes


class InFlightRequest:
    __slots__ = (
        "answer",
        "answer_bytes",
        "frame_bytes",
        "is_abandoned",
        "is_taking_effect",
        "work",
    )

    def __init__(self, frame_bytes: int, *, is_taking_effect: bool) -> None:
        self.frame_bytes = frame_bytes
        self.is_taking_effect = is_taking_effect  # it has not taken effect yet
        self.is_abandoned = False  # its connection is closed
        self.answer: Answer | None = None
        self.answer_bytes = 0  # of these in memory, while the answer waits for earlier ones
        self.work: Any = None  # the task, or the `PendingAnswer`, that the answer comes from


class InFlightRequests:
    __slots__ = ("answer_bytes", "frame_bytes", "requests", "taking_effect")

    def __init__(self) -> None:
        self.requests: deque[InFlightRequest] = deque()  # oldest first
        self.frame_bytes = 0  # of all requests in flight
        self.answer_bytes = 0  # in memory, of answers that wait for earlier ones
        self.taking_effect: InFlightRequest | None = None  # the youngest, until it has taken effect

    def begin(self, frame_bytes: int, *, is_taking_effect: bool) -> InFlightRequest:
        assert self.taking_effect is None
        request = InFlightRequest(frame_bytes, is_taking_effect=is_taking_effect)
        self.requests.append(request)
        self.frame_bytes += frame_bytes
        if is_taking_effect:
            self.taking_effect = request
        return request

    def complete(self, request: InFlightRequest, answer: Answer) -> None:
        request.answer = answer
        if request is not self.requests[0]:
            request.answer_bytes = memory_bytes(answer.segments)
            self.answer_bytes += request.answer_bytes
        self.took_effect(request)

    def took_effect(self, request: InFlightRequest) -> None:
        request.is_taking_effect = False
        if request is self.taking_effect:
            self.taking_effect = None

    def take_answer(self) -> Answer | None:
        """Remove the oldest request and return its answer, if it is ready."""
        if not self.requests or (answer := self.requests[0].answer) is None:
            return None
        request = self.requests.popleft()
        self.frame_bytes -= request.frame_bytes
        self.answer_bytes -= request.answer_bytes
        return answer

    def abandon(self) -> list[InFlightRequest]:
        """Remove all requests; return those without an answer."""
        unanswered = [request for request in self.requests if request.answer is None]
        for request in unanswered:
            request.is_abandoned = True
        self.requests.clear()
        self.frame_bytes = self.answer_bytes = 0
        self.taking_effect = None
        return unanswered
