"""Kills of brokers at the named steps of a transaction: whichever broker reaches the step first."""

from __future__ import annotations

import time
from functools import partial

from tests.chaos.faults.context import Fault, FaultContext
from tests.support.waiting import wait_until

from ottla.base.fault_points import FaultPoint

REACHED_S = 180.0  # clients that hang take most of a minute to notice
PASSES_MAX = 5


def kill_at(context: FaultContext, point: FaultPoint) -> str:
    cluster, path = context.cluster, context.cluster.step_path
    times = 1 if point is FaultPoint.PRODUCER_ID_LOGGED else context.rng.randint(1, PASSES_MAX)
    path.write_text(f"{point.value}:{times}")
    try:
        if point is FaultPoint.PRODUCER_ID_LOGGED:  # only a producer that starts has this step
            client = context.rng.choice(context.transactional())
            client.kill()
            client.start()
        wait_until(lambda: is_reached(context), f"a broker reaches {point.value}", REACHED_S)
    finally:
        path.unlink()
    dead = cluster.dead()
    time.sleep(context.rng.uniform(0.0, 3.0))
    for broker_id in dead:
        cluster.start(broker_id)
    path.with_name(f"{path.name}.reached").unlink(missing_ok=True)
    return f"kill -9 of broker {dead} at {point.value}"


def is_reached(context: FaultContext) -> bool:
    """Meanwhile clients that hang are replaced: without them no transaction continues."""
    for client in context.clients:
        client.revive()
    return bool(context.cluster.dead())


STEP: list[Fault] = [partial(kill_at, point=point) for point in FaultPoint]
