"""Signals that ask a command to end: SIGINT (Ctrl-C), SIGTERM and SIGHUP.

Promises  a command that was asked to end does, with the exit code of the signal.
"""

from __future__ import annotations

import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import logging

ENDING_SIGNALS = (signal.SIGTERM, signal.SIGHUP)
AGAIN_S = 0.01


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
        self._handled: list[signal.Signals] = []

    @contextmanager
    def raised(self, *, takes_ctrl_c: bool) -> Iterator[None]:
        """While a command runs. A second SIGTERM or SIGHUP ends the process at once."""
        self.last = None
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
        for each in self._handled:
            signal.signal(each, signal.SIG_DFL)
        self._raise(number, frame)

    def _raise(self, number: int, _frame: object) -> None:
        self.last = Interrupted(number)
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


interruptions = Interruptions()


def hide_interrupted_calls() -> None:
    """py4j logs a traceback of a JVM call that a signal interrupts to the root logger."""
    import logging

    logging.getLogger().addFilter(is_no_interruption)


def is_no_interruption(record: logging.LogRecord) -> bool:
    kind = record.exc_info[0] if record.exc_info else None
    return kind is None or not issubclass(kind, KeyboardInterrupt)
