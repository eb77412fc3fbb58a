"""Places where a test can let the process die, as a power cut or a kill would.

    OTTLA_FAULT_POINT=prepare-logged        the first time it comes there
    OTTLA_FAULT_POINT=data-appended:3       the third time

Owns      the names of the steps of a transaction between which a crash may come.
Promises  without the variable, reaching one costs a call and does nothing.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from enum import Enum

VARIABLE = "OTTLA_FAULT_POINT"


class FaultPoint(Enum):
    PRODUCER_ID_LOGGED = "producer-id-logged"
    PARTITIONS_ENLISTED = "partitions-enlisted"
    DATA_APPENDED = "data-appended"
    DATA_REPLICATED = "data-replicated"  # and not acknowledged
    GROUP_ENLISTED = "group-enlisted"
    OFFSETS_APPENDED = "offsets-appended"
    END_RECEIVED = "end-received"
    PREPARE_LOGGED = "prepare-logged"
    FIRST_MARKER_WRITTEN = "first-marker-written"
    ALL_MARKERS_WRITTEN = "all-markers-written"
    OFFSETS_VISIBLE = "offsets-visible"
    COMPLETE_LOGGED = "complete-logged"


class FaultPoints:
    """At most one point is armed; at its n-th time the process ends without another step."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        name, _, times = environment.get(VARIABLE, "").partition(":")
        self._armed = FaultPoint(name) if name else None
        self._left = int(times or 1)

    def reach(self, point: FaultPoint) -> None:
        if point is not self._armed:
            return
        self._left -= 1
        if self._left == 0:
            self.die()

    def die(self) -> None:
        os.kill(os.getpid(), signal.SIGKILL)


reach = FaultPoints(os.environ).reach
