"""The broker's side of the helper process: sends it a round, receives its events, or kills it.

Owns      the child process and its pipes.
Promises  the child gets no descriptor but its two pipes, and no signal from the terminal; if it
          ends during a round, that is an event. `run` blocks, and is for a thread; `kill` may be
          called from another one.
Leaves    what is done with the events to `compactor.py`.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Generator

from ottla.storage.compaction.helper import Event, read_message, write_message
from ottla.storage.compaction.request import CleanFailure, CleanRequest, CleanSummary

COMMAND = (sys.executable, "-m", "ottla.storage.compaction.helper_start")


class HelperProcess:
    def __init__(self) -> None:
        self._process = subprocess.Popen(
            COMMAND,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            close_fds=True,
            process_group=0,
        )

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def has_exited(self) -> bool:
        return self._process.poll() is not None

    def run(self, request: CleanRequest) -> Generator[Event, None, None]:
        """The events of the helper, as they arrive; the last is a summary or a failure.

        Then it can be given the next request, unless it `has_exited`.
        """
        process = self._process
        assert process.stdin is not None, "it was opened as a pipe"
        assert process.stdout is not None, "it was opened as a pipe"
        is_over = False
        try:
            write_message(process.stdin, request)
            while not is_over:
                event = read_message(process.stdout)
                assert isinstance(event, Event)
                is_over = isinstance(event, CleanSummary | CleanFailure)
                yield event
        except (EOFError, BrokenPipeError):
            code = process.wait()
            yield CleanFailure(f"the helper process ended with code {code}", is_damaged=False)
        finally:
            if not is_over:  # later events would be taken for those of the next round
                self.close()

    def kill(self) -> None:
        """End it immediately, and wait for its exit. `run` then returns a failure."""
        self._process.kill()
        self._process.wait()

    def close(self) -> None:
        """As `kill`, and close the pipes: not while `run` is active."""
        self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                try:
                    pipe.close()
                except BrokenPipeError:
                    pass
