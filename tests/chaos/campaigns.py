"""Runs with a name: which faults, how many of them, and how many records at least.

They continue until all numbers are reached, but not for longer than `seconds_max`; too few are a
failure.
"""

from __future__ import annotations

from dataclasses import replace

from tests.chaos.clients.librdkafka import TRANSACTION_S
from tests.chaos.cluster.settings import SESSION_S
from tests.chaos.faults.kinds import ALL
from tests.chaos.run import Plan

LONG = Plan(seed=0, kinds=[], seconds=60.0, rate=900.0, quiet_s=(1.0, 3.0))
LEADER_BACK_S = 2 * SESSION_S + 2.0
IN_SYNC_AGAIN_S = 15.0
RESTARTS_OF_ALL = ("roll", "last")  # one takes as long as the whole of a short run

CAMPAIGNS: dict[str, Plan] = {
    # What `make test` and `make chaos` run
    "short": replace(
        LONG,
        kinds=[each for each in ALL if each not in RESTARTS_OF_ALL],
        seconds=25.0,
        rate=300.0,
        hold_s=(0.5, 3.0),
        quiet_s=(0.2, 0.8),
    ),
    "all": replace(LONG, kinds=list(ALL), seconds=480.0, rate=300.0),
    # What `make faults` runs
    "kills": replace(
        LONG,
        kinds=["kill-one", "term"],
        quiet_s=(2.0, 5.0),
        kinds_min={"kill-one": 30, "term": 30},  # ten of each role
        gap_s_max=LEADER_BACK_S,
        recovery_s=IN_SYNC_AGAIN_S,
        acknowledged_min=200_000,
    ),
    "pauses": replace(
        LONG,
        kinds=["pause", "zookeeper"],
        hold_s=(3.0, 20.0),
        kinds_min={"pause": 20, "zookeeper": 20},
        recovery_s=IN_SYNC_AGAIN_S,
        acknowledged_min=100_000,
    ),
    "cuts": replace(
        LONG,
        kinds=["cut"],
        hold_s=(5.0, 30.0),
        faults_min=30,
        acknowledged_min=150_000,
        recovery_s=IN_SYNC_AGAIN_S,
    ),
    "copies": replace(
        LONG,
        kinds=["step", "kill-one", "client"],
        batch_max=1000,
        copiers=3,
        kinds_min={"step": 24, "kill-one": 24, "client": 24},  # each step twice
        copied_min=100_000,
        open_s_max=TRANSACTION_S + 10.0,
    ),
    "answers": replace(
        LONG,
        kinds=["lose", "elect", "kill-one", "reset"],
        hold_s=(3.0, 8.0),
        quiet_s=(0.5, 1.5),
        kinds_min={"elect": 50, "kill-one": 50},
        acknowledged_min=500_000,
        dropped_min=10_000,
    ),
    "groups": replace(
        LONG,
        kinds=["member", "member", "replace", "kill-one", "topics"],
        members=13,  # and six static ones, and one in Python
        kinds_min={"kill-one": 60},  # of which a third has the coordinator of a group
        rebalances_min=200,
        acknowledged_min=200_000,
    ),
    "rolls": replace(
        LONG,
        kinds=["roll", "configure"],
        kinds_min={"roll": 10},
        acknowledged_min=200_000,
        gap_s_max=3.0,
    ),
    "strands": replace(
        LONG,
        kinds=["strand", "last", "zombie", "flip"],
        hold_s=(5.0, 10.0),
        faults_min=60,
        acknowledged_min=100_000,
    ),
}
FAULTS = tuple(each for each in CAMPAIGNS if each not in ("short", "all"))
