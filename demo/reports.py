"""The reports of each truck: a pure function of the seed.

Owns      the shifts (driving and resting, by drivers who follow the rules and drivers who do not),
          the roads, and the JSON format of a report.
Promises  the same scenario gives the same reports in every process; sequences of a truck start at 0
          without gaps and its timestamps never decrease; the last report is the closing one.
Leaves    the time of sending to `generator.py`.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import NamedTuple

from demo.scenario import HOUR_MS, MINUTE_MS, SHIFT_MS, SHIFT_START_MS, Scenario

TIRED_SHARE = 0.15  # of the drivers; they drive for too long
KM_PER_DEGREE = 111.32
DEPOTS = [(50.08, 14.44), (52.52, 13.40), (48.14, 11.58), (53.55, 9.99), (48.21, 16.37)]


class Report(NamedTuple):
    truck: str
    sequence: int
    event_time_ms: int
    latitude: float
    longitude: float
    speed_kmh: int
    driven_ms: int  # since the previous report


@dataclass(frozen=True, slots=True)
class Phase:
    """A part of a shift: on the road in one direction, or at rest (speed 0)."""

    end_ms: int  # since the shift began
    speed_kmh: int
    north: float  # direction, a unit vector
    east: float


def reports_of(scenario: Scenario, name: str) -> Iterator[Report]:
    """All reports of a truck, the closing one last."""
    random = Random(f"{scenario.seed}/{name}")
    phases = iter(shift(random))
    latitude, longitude = random.choice(DEPOTS)
    interval_ms = scenario.interval_ms
    since_ms = random.randrange(interval_ms)
    phase = next(phases)
    for sequence in range(scenario.reports_per_truck):
        if since_ms >= phase.end_ms:
            phase = next(phases)
        km = phase.speed_kmh * interval_ms / HOUR_MS
        latitude += km * phase.north / KM_PER_DEGREE
        longitude += km * phase.east / (KM_PER_DEGREE * 0.64)  # a degree is shorter at 50° north
        driven_ms = interval_ms if phase.speed_kmh else 0
        directory = (round(latitude, 5), round(longitude, 5))
        yield Report(
            name, sequence, SHIFT_START_MS + since_ms, *directory, phase.speed_kmh, driven_ms
        )
        since_ms += interval_ms
    directory = (round(latitude, 5), round(longitude, 5))
    yield Report(name, scenario.reports_per_truck, scenario.closing_ms, *directory, 0, 0)


def shift(random: Random) -> list[Phase]:
    """Driving and resting alternately until the end of the shift.

    A driver who follows the rules drives at most four hours and then rests for at least 45 minutes,
    so that no five hours contain more than four and a quarter of driving.
    """
    is_tired = random.random() < TIRED_SHARE
    drives = (300, 480) if is_tired else (60, 240)
    rests = (10, 30) if is_tired else (45, 90)
    phases: list[Phase] = []
    end_ms = 0
    is_driving = random.random() < 0.7
    while end_ms <= SHIFT_MS:
        end_ms += random.randint(*(drives if is_driving else rests)) * MINUTE_MS
        angle = random.uniform(0, 2 * math.pi)
        speed_kmh = random.randint(50, 85) if is_driving else 0
        phases.append(Phase(end_ms, speed_kmh, math.cos(angle), math.sin(angle)))
        is_driving = not is_driving
    return phases


def rounds(scenario: Scenario) -> Iterator[tuple[Report, ...]]:
    """One report of each truck at a time, in order of their sequences; the closing round last.

    Reports are sent in order of fleet time.
    """
    return zip(*[reports_of(scenario, name) for name in scenario.truck_names()], strict=True)


def encode(report: Report) -> bytes:
    """JSON without a library, for speed; all names and numbers are plain."""
    truck, sequence, event_time_ms, latitude, longitude, speed_kmh, driven_ms = report
    return (
        f'{{"truck":"{truck}","sequence":{sequence},"event_time_ms":{event_time_ms},'
        f'"latitude":{latitude!r},"longitude":{longitude!r},'
        f'"speed_kmh":{speed_kmh},"driven_ms":{driven_ms}}}'
    ).encode()


def decode(value: bytes) -> Report:
    return Report(**json.loads(value))
