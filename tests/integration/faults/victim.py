"""A well-behaved client beside an attack: a record every ten milliseconds, and a consumer.

    with Victim(bootstrap_servers) as victim:
        victim.take()              # forget what was before
        ...                        # the attack
        print(victim.take())       # latencies of the acknowledgements since then, errors
    victim.missing                 # acknowledged records that the consumer has not seen

It runs in a process of its own, with a client that we did not write, so that neither the attack nor
our own code slows it down.
"""

from __future__ import annotations

import multiprocessing
import threading
import time
from collections.abc import Sequence
from dataclasses import dataclass
from multiprocessing.connection import Connection
from typing import Any, Self

from confluent_kafka import Consumer, Producer

TOPIC = "victim"
PAUSE_S = 0.01
DELIVERY_MS = 60_000
END_S = 60.0


@dataclass(frozen=True, slots=True)
class Seen:
    """What happened since the last look."""

    latencies_ms: Sequence[float]  # from sending a record to its acknowledgement
    errors: Sequence[str]

    def percentile_ms(self, percent: float) -> float:
        ordered = sorted(self.latencies_ms)
        return ordered[min(len(ordered) - 1, int(len(ordered) * percent / 100))] if ordered else 0.0


class Victim:
    def __init__(self, bootstrap_servers: str) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipe, theirs = context.Pipe()
        self._process = context.Process(target=run, args=(bootstrap_servers, theirs), daemon=True)
        self.missing = 0

    def __enter__(self) -> Self:
        self._process.start()
        self._pipe.recv()  # the first record is acknowledged
        return self

    def __exit__(self, *_error: object) -> None:
        self.missing = self._ask("end")
        self._process.join(END_S)
        if self._process.is_alive():
            self._process.kill()

    def take(self) -> Seen:
        seen: Seen = self._ask("take")
        return seen

    def _ask(self, what: str) -> Any:
        self._pipe.send(what)
        return self._pipe.recv()


def run(bootstrap_servers: str, pipe: Connection) -> None:
    """The other process."""
    life = Life(bootstrap_servers)
    threads = [threading.Thread(target=work) for work in (life.produce, life.consume)]
    for thread in threads:
        thread.start()
    life.first.wait()
    pipe.send("ready")
    while pipe.recv() == "take":
        pipe.send(life.take())
    life.is_ending.set()
    for thread in threads:
        thread.join()
    pipe.send(len(life.acknowledged - life.consumed))


class Life:
    def __init__(self, bootstrap_servers: str) -> None:
        servers = {"bootstrap.servers": bootstrap_servers}
        self._producer = Producer(
            servers
            | {"acks": "all", "linger.ms": 0, "delivery.timeout.ms": DELIVERY_MS}
            | {"enable.idempotence": True}
        )
        self._consumer = Consumer(
            servers
            | {"group.id": "victims", "auto.offset.reset": "earliest"}
            | {"allow.auto.create.topics": True}
        )
        self.acknowledged: set[int] = set()
        self.consumed: set[int] = set()
        self.first = threading.Event()
        self.is_ending = threading.Event()
        self.is_flushed = threading.Event()
        self._latencies_ms: list[float] = []
        self._errors: list[str] = []

    def take(self) -> Seen:
        latencies, self._latencies_ms = self._latencies_ms, []
        errors, self._errors = self._errors, []
        return Seen(latencies, errors)

    def produce(self) -> None:
        number = 0
        while not self.is_ending.is_set():
            self._send(number)
            number += 1
            next_s = time.monotonic() + PAUSE_S
            while (left_s := next_s - time.monotonic()) > 0:
                self._producer.poll(left_s)
        self._producer.flush(END_S)
        self.is_flushed.set()

    def _send(self, number: int) -> None:
        sent_s = time.perf_counter()

        def delivered(error: Any, _message: Any) -> None:
            if error is not None:
                self._errors.append(str(error))
                return
            self._latencies_ms.append((time.perf_counter() - sent_s) * 1000)
            self.acknowledged.add(number)
            self.first.set()

        self._producer.produce(TOPIC, str(number).encode(), on_delivery=delivered)

    def consume(self) -> None:
        self.first.wait()
        self._consumer.subscribe([TOPIC])
        while not self.is_ending.is_set():
            self._poll()
        self.is_flushed.wait()
        end_s = time.monotonic() + END_S
        while self.acknowledged - self.consumed and time.monotonic() < end_s:
            self._poll()
        self._consumer.close()

    def _poll(self) -> None:
        message = self._consumer.poll(0.1)
        if message is not None and message.error() is None:
            self.consumed.add(int(message.value() or b"-1"))
