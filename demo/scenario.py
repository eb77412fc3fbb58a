"""The size of the run, and the names shared by its processes.

Owns      the numbers that generator, pipelines, expected results and checker must agree on.
Promises  everything follows from the seed and the three sizes: there is no other shared state.

A shift of twelve hours takes `seconds`: fleet time runs hundreds of times faster than real time.
"""

from __future__ import annotations

import argparse
from dataclasses import dataclass

MINUTE_MS = 60_000
HOUR_MS = 60 * MINUTE_MS

SHIFT_START_MS = 1_772_424_000_000  # 2026-03-02 04:00 UTC, a Monday
SHIFT_MS = 12 * HOUR_MS

# Alert for trucks that were driven for more than four and a half hours in any five, for each hour.
WINDOW_MS = 5 * HOUR_MS
SLIDE_MS = HOUR_MS
DRIVING_MS_MAX = 270 * MINUTE_MS

REPORTS_TOPIC = "fleet.reports"
LATEST_TOPIC = "fleet.latest"
ALERTS_TOPIC = "fleet.alerts"
PARTITIONS = 4
QUERIES = ("lake", "latest", "alerts")  # the pipelines of pipelines.yaml

# Shares of the events. The generator waits at a gate shortly before each kill.
GATE_SHARES = (0.3, 0.7)
DRIVER_KILL_SHARE, BROKER_KILL_SHARE = 0.4, 0.75

# After a crash the backlog of one partition may arrive some seconds before that of another. The
# watermark delay is the fleet time of this real time.
TIMEOUT_S = 20


class InvalidScenario(ValueError):
    """The sizes are not possible."""


@dataclass(frozen=True, slots=True)
class Scenario:
    seed: int = 7
    trucks: int = 200
    rate: int = 10_000  # events a second, all trucks together
    seconds: int = 80

    def __post_init__(self) -> None:
        for name in ("trucks", "rate", "seconds"):
            if getattr(self, name) < 1:
                raise InvalidScenario(f"{name} must be at least 1, not {getattr(self, name)}")

    @property
    def reports_per_truck(self) -> int:
        """Those of the shift; one closing report follows."""
        return max(1, self.rate * self.seconds // self.trucks)

    @property
    def events(self) -> int:
        return self.trucks * (self.reports_per_truck + 1)

    @property
    def interval_ms(self) -> int:
        """Fleet time between two reports of a truck."""
        return SHIFT_MS // self.reports_per_truck

    @property
    def watermark_ms(self) -> int:
        """The watermark delay, in fleet time, in whole minutes."""
        return -(-SHIFT_MS * TIMEOUT_S // (self.seconds * MINUTE_MS)) * MINUTE_MS

    @property
    def closing_ms(self) -> int:
        """The timestamp of the closing reports: late enough to close every window of the shift."""
        return SHIFT_START_MS + SHIFT_MS + WINDOW_MS + self.watermark_ms + HOUR_MS

    @property
    def final_watermark_ms(self) -> int:
        return self.closing_ms - self.watermark_ms

    def truck_names(self) -> list[str]:
        return [f"truck-{number:03}" for number in range(self.trucks)]

    def arguments(self) -> list[str]:
        """This scenario on the command line of another process."""
        sizes = ["--trucks", self.trucks, "--rate", self.rate, "--seconds", self.seconds]
        return [str(word) for word in ["--seed", self.seed, *sizes]]


def add_arguments(parser: argparse.ArgumentParser) -> None:
    plain = Scenario()
    parser.add_argument("--seed", type=int, default=plain.seed, help="which fleet; same seed, same")
    parser.add_argument("--trucks", type=int, default=plain.trucks)
    parser.add_argument("--rate", type=int, default=plain.rate, help="events a second")
    parser.add_argument("--seconds", type=int, default=plain.seconds, help="of events")


def from_arguments(arguments: argparse.Namespace) -> Scenario:
    return Scenario(arguments.seed, arguments.trucks, arguments.rate, arguments.seconds)
