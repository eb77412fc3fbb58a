"""What a step sends its requests with: a session whose requests are numbered by step.

Owns      the labels of answers, which API and version each was asked with, and the requests that
          wait for their answers.
Promises  an answer is kept under the step in which it came, so that an answer which one broker
          gives earlier than the other is a difference.
Leaves    how to know that a broker is quiet to the areas: see `Model.after_step`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

from tests.compatibility.differential.session import Pending, Session
from tests.compatibility.differential.wire import key_of

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.message import Message

Shown = Callable[[Any], Any]
Then = Callable[[Any], None]


class Asked(NamedTuple):
    """Where an answer belongs."""

    step: int
    key: ApiKey
    version: int


class Waiting(NamedTuple):
    pending: Pending
    shown: Shown | None
    then: Then


class StepClient:
    def __init__(self, session: Session) -> None:
        self.session = session
        self.asked: dict[str, Asked] = {}  # by label, as the answers are
        self._step, self._words = -1, "before"
        self._waiting: list[Waiting] = []
        self._connections = 0

    def forget_step(self) -> None:
        """Nothing that was answered in this step is compared."""
        of_step = [label for label, asked in self.asked.items() if asked.step == self._step]
        for label in of_step:
            del self.asked[label]
            self.session.answers.pop(label, None)

    def forget_waiting(self) -> None:
        """What has not been answered will not be."""
        for each in self._waiting:
            self.asked.pop(each.pending.label, None)
        self._waiting = []

    def begin(self, number: int, words: str) -> None:
        self._step, self._words = number, words

    def ask(
        self, request: Message, version: int, *, shown: Shown | None = None, on: str = ""
    ) -> Any:
        """Send it and keep its answer; None if the version cannot say it, or nothing came back."""
        label = self._label(request, version)
        return self.session.ask(label, request, version=version, shown=shown, on=on)

    def ask_silently(self, request: Message, version: int) -> Any:
        """As `ask`, for requests that may have no answer."""
        label = self._label(request, version)
        return self.session.ask(label, request, version=version, may_be_silent=True)

    def send(
        self,
        request: Message,
        version: int,
        then: Then = lambda _answer: None,
        shown: Shown | None = None,
    ) -> None:
        """Send it on a connection of its own. When its answer comes `then` is called with it."""
        label = self._label(request, version)
        pending = self.session.send(label, request, version=version, on=self._new_connection())
        if pending is None:
            del self.asked[label]
            return
        self._waiting.append(Waiting(pending, shown, then))

    def _new_connection(self) -> str:
        """One that the broker has begun to read: until then it may serve others that came later."""
        self._connections += 1
        name = f"own {self._connections}"
        connection = self.session.connection(name)
        connection.send_probe()
        connection.receive_frame()
        return name

    @property
    def is_waiting(self) -> bool:
        return bool(self._waiting)

    def collect(self) -> bool:
        """Keep the answers that have come, under this step; whether there were any."""
        came = [each for each in self._waiting if each.pending.connection.has_answer()]
        self._waiting = [each for each in self._waiting if each not in came]
        for each in came:
            self._receive(each)
        return bool(came)

    def _receive(self, waiting: Waiting) -> None:
        asked_as = waiting.pending.label
        asked = self.asked.pop(asked_as)
        label = asked_as if asked.step == self._step else f"{self._step} answers {asked_as}"
        self.asked[label] = asked._replace(step=self._step)
        answer = self.session.receive(waiting.pending._replace(label=label), waiting.shown)
        waiting.pending.connection.close()
        if answer is not None:
            waiting.then(answer)

    def _label(self, request: Message, version: int) -> str:
        label = f"{self._step} {self._words} {key_of(request).name}"
        count = sum(known == label or known.startswith(f"{label} #") for known in self.asked)
        label = f"{label} #{count + 1}" if count else label
        self.asked[label] = Asked(self._step, key_of(request), version)
        return label
