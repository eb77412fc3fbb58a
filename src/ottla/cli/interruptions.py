"""Signals that ask a command to end: SIGINT (Ctrl-C), SIGTERM and SIGHUP.

Promises  a command that was asked to end does, with the exit code of the signal.
          Signals that come together ask once: `timeout` sends each to the process and to its group,
          and a supervisor may send SIGTERM to what Ctrl-C reaches as well.
"""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
AGAIN_S = 0.01
TOGETHER_S = 1.0  # a second request by a person comes later
PY4J_CONNECTIONS = "clientserver"  # the module of py4j that logs failed calls


class Interrupted(KeyboardInterrupt):
    """A signal asked the process to end."""

    def __init__(self, number: int) -> None:
        super().__init__(f"signal {number}")
        self.number = number

    @property
    def code(self) -> int:
        return 128 + self.number  # as shells report it


class Interruptions:
    """Raises Interrupted for each signal, and remembers it.

    Python prints and forgets an exception that is raised in a finalizer or in a callback of a weak
    reference, of which every import has some: it is then raised again. C functions of the client
    library replace it by an error of their own: `last` distinguishes it from other errors.
    """

    def __init__(self) -> None:
        self.last: Interrupted | None = None
        self.deferred = Deferral()
        self._handled: list[signal.Signals] = []
        self._together_until_s = 0.0

    @contextmanager
    def raised(self, *, takes_ctrl_c: bool) -> Iterator[None]:
        """While a command runs. Asked again, it is interrupted again: in what it does to end. A
        third SIGTERM or SIGHUP ends the process at once.
        """
        self.last = self.deferred.pending = None
        self._together_until_s = 0.0
        self._handled = [
            each for each in ENDING_SIGNALS if signal.getsignal(each) is signal.SIG_DFL
        ]
        before = signal.getsignal(signal.SIGINT)
        takes_ctrl_c = takes_ctrl_c or before is signal.default_int_handler
        hook = sys.unraisablehook
        try:
            for each in self._handled:
                signal.signal(each, self._end)
            if takes_ctrl_c:
                signal.signal(signal.SIGINT, self._raise)
        except ValueError:  # not the main thread: the signals are not ours
            yield
            return
        sys.unraisablehook = self._unraisable
        try:
            yield
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)
            sys.unraisablehook = hook
            for each in self._handled:
                signal.signal(each, signal.SIG_DFL)
            if takes_ctrl_c:
                signal.signal(signal.SIGINT, before)

    def _end(self, number: int, frame: object) -> None:
        if self.last is not None and time.monotonic() >= self._together_until_s:
            for each in self._handled:
                signal.signal(each, signal.SIG_DFL)
        self._raise(number, frame)

    def _raise(self, number: int, _frame: object) -> None:
        now_s = time.monotonic()
        if now_s < self._together_until_s:
            return
        self._together_until_s = now_s + TOGETHER_S
        self.last = Interrupted(number)
        if self.deferred.is_active:
            self.deferred.pending = self.last
            return
        raise self.last

    def _unraisable(self, found: sys.UnraisableHookArgs) -> None:
        if not issubclass(found.exc_type, KeyboardInterrupt):
            sys.__unraisablehook__(found)
            return
        # Later, because an exception that is raised here is forgotten as well.
        signal.signal(signal.SIGALRM, self._raise_again)
        signal.setitimer(signal.ITIMER_REAL, AGAIN_S)

    def _raise_again(self, _number: int, _frame: object) -> None:
        raise self.last or KeyboardInterrupt


class Deferral:
    """`with interruptions.deferred:` around what must not be left half done; short, because nothing
    interrupts it. Signals are raised at its end.
    """

    __slots__ = ("is_active", "pending")

    def __init__(self) -> None:
        self.is_active = False
        self.pending: Interrupted | None = None

    def __enter__(self) -> None:
        self.is_active = True

    def __exit__(self, *_error: object) -> None:
        self.is_active = False
        if self.pending is not None:
            pending, self.pending = self.pending, None
            raise pending


interruptions = Interruptions()


def hide_interrupted_calls() -> None:
    """py4j logs a traceback of a JVM call that a signal interrupts, and of those that fail since
    then because the connection is in the middle of a message."""
    import logging

    logging.getLogger().addFilter(is_no_interruption)


def is_no_interruption(record: logging.LogRecord) -> bool:
    kind = record.exc_info[0] if record.exc_info else None
    if kind is None:
        return True
    is_broken_call = interruptions.last is not None and record.module == PY4J_CONNECTIONS
    return not is_broken_call and not issubclass(kind, KeyboardInterrupt)
