"""A client in a process of its own: `python -m tests.chaos.clients.worker '{"role": ...}'`.

It reads commands from standard input: "stop" or the end of the input lets it finish what it does
and end. Whatever it does and sees goes to its history file.
"""

from __future__ import annotations

import json
import os
import random
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.chaos.recording import Recorder


@dataclass(frozen=True)
class Order:
    """What a client has to do."""

    role: str
    name: str
    bootstrap: str
    directory: str
    seed: int
    topics: dict[str, int]  # with their numbers of partitions
    rate: float = 100.0  # records per second, of producers
    batch_max: int = 200  # records, of transactions
    group: str = ""
    protocol: str = "classic"

    @property
    def history_path(self) -> Path:
        return Path(self.directory) / f"{self.name}.jsonl"

    def encode(self) -> str:
        return json.dumps(self.__dict__)


HUNG = 75  # the exit code of a client that waits for itself
FENCED = 76  # of a static member after another one, or itself in a new session, has joined
HUNG_S = 40.0  # longer than the timeouts of single calls


class Job:
    """What every role gets: its order, chance, where to record, and when to stop."""

    def __init__(self, order: Order) -> None:
        self.order = order
        self.rng = random.Random(order.seed)
        self.recorder = Recorder(order.history_path)
        self.stopping = threading.Event()

    def watch_input(self) -> None:
        for line in sys.stdin:
            if line.strip() == "stop":
                break
        self.stopping.set()

    @contextmanager
    def limited(self, name: str, seconds: float = HUNG_S) -> Iterator[None]:
        """A call of a client library that has a timeout of its own, and may not keep to it: then
        this process ends, and a successor continues."""
        timer = threading.Timer(seconds, self._give_up, [name])
        timer.daemon = True
        timer.start()
        try:
            yield
        finally:
            timer.cancel()

    def _give_up(self, name: str) -> None:
        self.recorder.note(f"hangs in {name}")
        os._exit(HUNG)

    def random_key(self) -> tuple[str, int]:
        topic = self.rng.choice(sorted(self.order.topics))
        return topic, self.rng.randrange(self.order.topics[topic])

    def sizes(self) -> int:
        """Bytes of filler: mostly few, sometimes thousands."""
        return self.rng.choice([0, 20, 100, 100, 500, 3000])


def main() -> None:
    details: dict[str, Any] = json.loads(sys.argv[1])
    job = Job(Order(**details))
    threading.Thread(target=job.watch_input, daemon=True).start()
    try:
        run_role(job)
    except SystemExit as end:
        job.recorder.note(f"ends with code {end.code}")
        raise
    except BaseException as error:
        job.recorder.note(f"failed: {error!r}")
        raise
    job.recorder.note("finished")


def run_role(job: Job) -> None:
    if job.order.role.startswith("python-"):
        from tests.chaos.clients import pure_python as clients
    else:
        from tests.chaos.clients import librdkafka as clients  # type: ignore[no-redef]
    clients.ROLES[job.order.role](job)


if __name__ == "__main__":
    main()
