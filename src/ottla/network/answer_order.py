"""Requests that have begun, oldest first: their answers come out in that order.

Pure: an answer is put in when it is ready, and comes out when those before it have.
"""

from __future__ import annotations

from collections import deque
from typing import Any

from ottla.network.served import Answer, memory_bytes


class Begun:
    """A request that has begun and is not answered yet."""

    __slots__ = ("answer", "answer_bytes", "frame_bytes", "is_given_up", "is_working", "task")

    def __init__(self, frame_bytes: int, *, is_working: bool) -> None:
        self.frame_bytes = frame_bytes
        self.is_working = is_working
        self.is_given_up = False  # nobody waits for the answer any more
        self.answer: Answer | None = None
        self.answer_bytes = 0  # of these in memory, while it waits for others
        self.task: Any = None  # the future that brings the answer


class AnswerOrder:
    __slots__ = ("answer_bytes", "begun", "frame_bytes", "working")

    def __init__(self) -> None:
        self.begun: deque[Begun] = deque()
        self.frame_bytes = 0  # of all that have begun
        self.answer_bytes = 0  # in memory, of answers that wait for those before them
        self.working: Begun | None = None  # the youngest, if it has not taken effect yet

    def begin(self, frame_bytes: int, *, is_working: bool) -> Begun:
        assert self.working is None
        begun = Begun(frame_bytes, is_working=is_working)
        self.begun.append(begun)
        self.frame_bytes += frame_bytes
        if is_working:
            self.working = begun
        return begun

    def ready(self, begun: Begun, answer: Answer) -> None:
        begun.answer = answer
        if begun is not self.begun[0]:
            begun.answer_bytes = memory_bytes(answer.segments)
            self.answer_bytes += begun.answer_bytes
        self.took_effect(begun)

    def took_effect(self, begun: Begun) -> None:
        begun.is_working = False
        if begun is self.working:
            self.working = None

    def next_answer(self) -> Answer | None:
        """Take the oldest request's answer, if it is ready."""
        if not self.begun or (answer := self.begun[0].answer) is None:
            return None
        begun = self.begun.popleft()
        self.frame_bytes -= begun.frame_bytes
        self.answer_bytes -= begun.answer_bytes
        return answer

    def give_up(self) -> list[Begun]:
        """Forget all; return the requests that have no answer yet."""
        unanswered = [begun for begun in self.begun if begun.answer is None]
        for begun in unanswered:
            begun.is_given_up = True
        self.begun.clear()
        self.frame_bytes = self.answer_bytes = 0
        self.working = None
        return unanswered
