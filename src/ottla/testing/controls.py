"""What a test controls in a broker that was started with `Broker(controls=True)`.

    broker.clock.advance(days=8)                          # retention deletes, timeouts pass
    broker.faults.fail("Produce", "NOT_LEADER_OR_FOLLOWER", nth=2)
    broker.faults.delay("Fetch", seconds=3)
    broker.faults.drop("Produce")                         # written, but the answer is lost
    broker.faults.fill_disk()

Leaves    carrying it out to the broker's process (`broker_process.py`).
"""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from datetime import timedelta
from difflib import get_close_matches
from enum import IntEnum
from typing import Any

from ottla.protocol.api_keys import ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.testing.given import is_number, require_seconds

__tracebackhide__ = True  # pytest shows failures at the line of the test

Send = Callable[..., Any]


class BrokerClock:
    """The broker's clock: it runs as clocks do, and can be moved ahead."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.ahead_s = 0.0  # of the real time; kept when the broker is started again

    def advance(
        self,
        seconds: float | timedelta = 0.0,
        *,
        minutes: float = 0.0,
        hours: float = 0.0,
        days: float = 0.0,
    ) -> None:
        """Move the broker's time ahead; everything that has become due is done on return.

        Each timer that is due fires once. Clients keep their own time: their next heartbeat comes
        when it would have come anyway.
        """
        if isinstance(seconds, timedelta):
            seconds = seconds.total_seconds()
        given = {"seconds": seconds, "minutes": minutes, "hours": hours, "days": days}
        for name, number in given.items():
            if not is_number(number) or not math.isfinite(number):
                raise ValueError(f"{name}={number!r} is not a number")
        seconds += 60 * minutes + 3600 * hours + 86_400 * days
        if seconds < 0:
            raise ValueError("a clock does not go back")
        if not seconds:
            raise ValueError("say how far: advance(5) is five seconds, advance(days=8) eight days")
        self._send("advance", seconds=seconds)
        self.ahead_s += seconds

    def now_ms(self) -> int:
        """The broker's wall-clock time, in milliseconds since 1970."""
        return time.time_ns() // 1_000_000 + round(self.ahead_s * 1000)


class BrokerFaults:
    """Faults that a broker has at a test's request. They end with `clear`, or with its process.

    APIs have the names of Kafka's protocol: "Produce", "Fetch", "OffsetCommit", "JoinGroup".
    A fault is for the `nth` request of its API from now on (1 is the next one) and those behind it,
    `times` in all; None means all from then on.
    """

    def __init__(self, send: Send) -> None:
        self._send = send

    def fail(
        self, api: str | int, error: str | int, *, nth: int = 1, times: int | None = 1
    ) -> None:
        """Answer with an error code, such as "NOT_LEADER_OR_FOLLOWER"; nothing is carried out.

        A failed Metadata has the code for every topic, and names the brokers.
        """
        if (name := named(ErrorCode, error)) == ErrorCode.NONE.name:
            raise ValueError(f"error={error!r} is not an error")
        self._rule("fail", api, nth, times, error=name)

    def delay(self, api: str | int, seconds: float, *, nth: int = 1, times: int | None = 1) -> None:
        """Carry requests out at once, and answer `seconds` later, by the broker's clock."""
        require_seconds("seconds", seconds)
        self._rule("delay", api, nth, times, seconds=seconds)

    def drop(
        self, api: str | int, *, nth: int = 1, times: int | None = 1, is_carried_out: bool = True
    ) -> None:
        """Close the connection instead of answering, after carrying the request out or not."""
        self._rule("drop" if is_carried_out else "refuse", api, nth, times)

    def fill_disk(self) -> None:
        """Let the broker's disk be full: nothing can be written until `clear`.

        Produce and changes of topics are refused with KAFKA_STORAGE_ERROR.
        """
        self._send("fill_disk", is_full=True)

    def clear(self) -> None:
        """End all faults. Answers that are late already stay late."""
        self._send("clear")

    def requests(self, api: str | int) -> int:
        """How many requests of an API have come since the broker's process was started."""
        return int(self._send("requests").get(named(ApiKey, api), 0))

    def _rule(
        self,
        kind: str,
        api: str | int,
        nth: int,
        times: int | None,
        error: str = "NONE",
        seconds: float = 0.0,
    ) -> None:
        for name, number in (("nth", nth), ("times", times)):
            if not isinstance(number, int) and (name, number) != ("times", None):
                raise TypeError(f"{name}={number!r} is not a whole number")
        if nth < 1:
            raise ValueError(f"nth={nth}: the next request is 1")
        if times is not None and times < 1:
            raise ValueError(f"times={times}: at least 1, or None for all requests")
        name = named(ApiKey, api)
        if not is_served(ApiKey[name]):
            raise ValueError(f"brokers of Ottla do not serve {name}: no request would come")
        self._send(
            "rule", kind=kind, api=name, nth=nth, times=times,
            error=error, seconds=seconds,
        )  # fmt: skip


def is_served(api: ApiKey) -> bool:
    from ottla.handlers.serving.served_apis import INTER_BROKER, SERVED

    return api in SERVED or api in INTER_BROKER


def named(kind: type[IntEnum], given: str | int) -> str:
    """The member that is meant: by name, in any spelling, or by number."""
    what = "API" if kind is ApiKey else "error code"
    if isinstance(given, int) and given in list(kind):
        return kind(given).name
    if not isinstance(given, str):
        raise ValueError(f"Kafka has no {what} {given!r}")
    names = {plain(name): name for name in kind.__members__}
    if (name := names.get(plain(given))) is not None:
        return name
    begun = [each for each in names if each.startswith(plain(given))]
    close = [names[each] for each in begun or get_close_matches(plain(given), names)]
    hint = f"; do you mean {' or '.join(close[:3])}?" if close else ""
    raise ValueError(f"Kafka has no {what} {given!r}{hint}")


def plain(name: str) -> str:
    return name.replace("_", "").lower()
