"""What a client sees of a partition or a group never goes back."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from tests.chaos.checker.anomalies import Anomaly, Finding
from tests.chaos.checker.history import Observation, Quantity

ANOMALIES = {
    Quantity.HIGH_WATERMARK: Anomaly.HIGH_WATERMARK_BACK,
    Quantity.LAST_STABLE_OFFSET: Anomaly.LAST_STABLE_OFFSET_BACK,
    Quantity.LEADER_EPOCH: Anomaly.LEADER_EPOCH_BACK,
    Quantity.COMMITTED_OFFSET: Anomaly.COMMITTED_OFFSET_BACK,
}


def steps_back(observations: Iterable[Observation]) -> Iterator[Finding]:
    """For each client separately: two clients may ask brokers of which one has older metadata."""
    highest: dict[tuple[str, Quantity, str], Observation] = {}
    for each in observations:
        view = (each.process, each.quantity, each.key)
        before = highest.get(view)
        if before is not None and each.value < before.value:
            text = (
                f"{each.process} saw {before.value} at {before.time_s:.3f} s, "
                f"and {each.value} at {each.time_s:.3f} s"
            )
            yield Finding(ANOMALIES[each.quantity], each.key, text)
        else:
            highest[view] = each
