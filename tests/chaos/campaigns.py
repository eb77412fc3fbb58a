"""Runs with a name: which faults, how many of them, and how many records at least.

They go on until both numbers are reached, but not for longer than `SECONDS_MAX`; too few are a
failure.
"""

from __future__ import annotations

from dataclasses import replace

from tests.chaos.faults.kinds import ALL
from tests.chaos.run import Plan

SECONDS_MAX = 3600.0
LONG = Plan(seed=0, kinds=[], seconds=60.0, rate=900.0, quiet_s=(1.0, 3.0))

CAMPAIGNS: dict[str, Plan] = {
    # What `make test` and `make chaos` run
    "short": replace(LONG, kinds=list(ALL), rate=300.0, hold_s=(1.0, 8.0), quiet_s=(0.5, 1.5)),
    "all": replace(LONG, kinds=list(ALL), seconds=480.0, rate=300.0),
    # What `make faults` runs
    "kills": replace(
        LONG,
        kinds=["kill-one", "term"],
        quiet_s=(2.0, 5.0),
        faults_min=60,
        acknowledged_min=200_000,
    ),
    "pauses": replace(
        LONG,
        kinds=["pause", "zookeeper"],
        hold_s=(3.0, 20.0),
        faults_min=40,
        acknowledged_min=100_000,
    ),
    "cuts": replace(
        LONG, kinds=["cut"], hold_s=(5.0, 30.0), faults_min=30, acknowledged_min=150_000
    ),
    "copies": replace(
        LONG,
        kinds=["kill-one", "client"],
        batch_max=1000,
        faults_min=80,
        acknowledged_min=100_000,
    ),
    "answers": replace(
        LONG,
        kinds=["lose", "elect", "kill-one", "reset"],
        hold_s=(10.0, 30.0),
        faults_min=200,
        acknowledged_min=500_000,
        dropped_min=10_000,
    ),
    "groups": replace(
        LONG,
        kinds=["member", "member", "member", "kill-one"],
        members=10,
        faults_min=150,
        acknowledged_min=200_000,
    ),
    "rolls": replace(LONG, kinds=["roll"], faults_min=10, acknowledged_min=200_000),
}
FAULTS = ("kills", "pauses", "cuts", "copies", "answers", "groups", "rolls")
