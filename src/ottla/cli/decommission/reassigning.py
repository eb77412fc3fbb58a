"""Carries out the moves away from a broker: begin, watch, cancel.

Promises  may be interrupted at any point, and run again: ongoing reassignments are kept.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from contextlib import suppress

from ottla.cli.decommission.cluster_state import ClusterState, check, plan, read
from ottla.cli.decommission.plan import Move
from ottla.cli.decommission.throttles import remove_throttles, set_throttles
from ottla.cli.output.tables import count_text
from ottla.client.admin.reassignments import FactorChanged, alter_reassignments
from ottla.client.cluster.cluster import Cluster

POLL_S = 0.5

Report = Callable[[str], None]


def begin(cluster: Cluster, state: ClusterState, moves: Sequence[Move], rate: int | None) -> None:
    """`rate` also applies to ongoing reassignments.

    Replicas and reassignments are read from brokers of which one may know more than another: the
    replicas of a partition that moves, with no reassignment, look like more replicas than it has to
    keep. The controller refuses such a move, and the next one is planned from what is read then.
    """
    if rate is not None:
        throttled = {each.partition: each for each in [*under_way(state), *moves]}
        set_throttles(cluster, [*throttled.values()], sorted(state.brokers), rate)
    with suppress(FactorChanged):
        alter_reassignments(cluster, {each.partition: each.after for each in moves})


def under_way(state: ClusterState) -> list[Move]:
    return [
        Move(at, tuple(n for n in each.replicas if n not in each.adding), each.target)
        for at, each in state.reassignments.items()
    ]


def move_all(cluster: Cluster, broker_id: int, rate: int | None, report: Report) -> list[Move]:
    """Move all replicas away, and wait until the broker has none. Returns what was begun."""
    state = read(cluster)
    check(state, broker_id)
    begun = plan(state, broker_id)
    begin(cluster, state, begun, rate)
    total, reported = len(state.held_by(broker_id)), ""
    while held := (state := read(cluster)).held_by(broker_id):
        # Topics that were created meanwhile may have replicas there, too.
        if added := plan(state, broker_id, may_replace_dead=False):
            begin(cluster, state, added, rate)
            begun += added
        total = max(total, len(held))
        reported = _report_change(progress(state, broker_id, total), reported, report)
        time.sleep(POLL_S)
    remove_throttles(cluster, sorted(state.brokers), broker_id)
    report(f"broker {broker_id} has no replicas; {count_text(total, 'partition')} moved")
    return begun


def _report_change(text: str, reported: str, report: Report) -> str:
    if text != reported:
        report(text)
    return text


def progress(state: ClusterState, broker_id: int, total: int) -> str:
    """One line, with what the moves wait for if a broker that they need is away."""
    held = state.held_by(broker_id)
    text = f"{total - len(held)} of {count_text(total, 'partition')} moved"
    moving = [state.reassignments[at] for at in held if at in state.reassignments]
    needed = {each for one in moving for each in one.adding}
    away = sorted(needed & set(state.fenced))
    if away:
        names = ", ".join(map(str, away))
        text += f"; waiting for {names}, which is fenced: start it, or run this again to replace it"
    return text


def cancel(cluster: Cluster, broker_id: int) -> int:
    """Cancel the ongoing reassignments; partitions that were moved already stay where they are.
    Returns the number of cancelled moves."""
    state = read(cluster)
    moving = [at for at, each in state.reassignments.items() if broker_id in each.removing]
    alter_reassignments(cluster, dict.fromkeys(moving))
    remove_throttles(cluster, sorted(state.brokers), broker_id)
    return len(moving)
