"""Places where a test can let the process die, as a power cut or a kill would.

    OTTLA_FAULT_POINT=prepare-logged        the first time it comes there
    OTTLA_FAULT_POINT=data-appended:3       the third time
    OTTLA_FAULT_VICTIM=java                 not this process but the Java process it belongs to,
                                            or the process whose number is in a given file
    OTTLA_FAULT_ONCE=/path/of/a/file        in one process only: the first to create the file

Owns      the names of the steps of a transaction between which a crash may come.
Promises  without the variable, reaching one costs a call and does nothing.
"""

from __future__ import annotations

import os
import signal
from collections.abc import Mapping
from enum import Enum

VARIABLE = "OTTLA_FAULT_POINT"
VICTIM = "OTTLA_FAULT_VICTIM"
ONCE = "OTTLA_FAULT_ONCE"
JAVA = "java"


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


class SinkPoint(Enum):
    """The same for a sink that writes from Spark: first its tasks, then its driver."""

    WRITING = "sink-writing"  # some rows of a task are written, others not
    WRITTEN = "sink-written"  # all rows of a task
    DECIDING = "sink-deciding"  # all tasks are done, nothing is decided
    DECIDED = "sink-decided"  # and nothing is committed
    FIRST_COMMITTED = "sink-first-committed"
    ALL_COMMITTED = "sink-all-committed"  # and not written down
    DONE = "sink-done"  # and Spark does not know


def point_named(name: str) -> FaultPoint | SinkPoint:
    return SinkPoint(name) if name.startswith("sink-") else FaultPoint(name)


class FaultPoints:
    """At most one point is armed; at its n-th time the process ends without another step."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        name, _, times = environment.get(VARIABLE, "").partition(":")
        self._armed = point_named(name) if name else None
        self._left = int(times or 1)
        self._victim = environment.get(VICTIM, "")
        self._once = environment.get(ONCE)

    def reach(self, point: FaultPoint | SinkPoint) -> None:
        if point is not self._armed:
            return
        self._left -= 1
        if self._left == 0 and self._is_first():
            self.die()

    def _is_first(self) -> bool:
        if self._once is None:
            return True
        try:
            os.close(os.open(self._once, os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            return False
        return True

    def die(self) -> None:
        """This process ends here, too, if the victim does not take it along."""
        if self._victim == JAVA:
            os.kill(java_above(os.getpid()), signal.SIGKILL)
        elif self._victim:
            with open(self._victim) as file:
                os.kill(int(file.read()), signal.SIGKILL)
            return  # somebody else's death: live on and see it
        os.kill(os.getpid(), signal.SIGKILL)


def java_above(pid: int) -> int:
    """The Java process that started this one, directly or not."""
    while pid > 1:
        with open(f"/proc/{pid}/stat") as file:
            name, _, rest = file.read().partition("(")[2].rpartition(")")
        if name == "java":
            return pid
        pid = int(rest.split()[1])
    raise ProcessLookupError("no Java process above this one")


reach = FaultPoints(os.environ).reach
