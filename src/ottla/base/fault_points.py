"""Points at which a test can kill the process.

    OTTLA_FAULT_POINT=prepare-logged        at the first pass
    OTTLA_FAULT_POINT=data-appended:3       at the third pass
    OTTLA_FAULT_VICTIM=java                 kill the Java process that started this one instead,
                                            or the process whose number is in a given file
    OTTLA_FAULT_ONCE=/path/of/a/file        in one process only: the first to create the file

Owns      the names of the points between the steps of a transaction, a write and a batch.
Promises  without the variable, a point costs one function call.
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
    DATA_REPLICATED = "data-replicated"  # but not acknowledged
    GROUP_ENLISTED = "group-enlisted"
    OFFSETS_APPENDED = "offsets-appended"
    END_RECEIVED = "end-received"
    PREPARE_LOGGED = "prepare-logged"
    FIRST_MARKER_WRITTEN = "first-marker-written"
    ALL_MARKERS_WRITTEN = "all-markers-written"
    OFFSETS_VISIBLE = "offsets-visible"
    COMPLETE_LOGGED = "complete-logged"


class SinkPoint(Enum):
    """The points of the Spark sink: first those of its tasks, then those of its driver."""

    WRITING = "sink-writing"  # some rows of a task are written
    WRITTEN = "sink-written"  # all rows of a task
    DECIDING = "sink-deciding"  # all tasks are done, no decision is stored
    DECIDED = "sink-decided"  # but nothing is committed
    FIRST_COMMITTED = "sink-first-committed"
    ALL_COMMITTED = "sink-all-committed"  # but not recorded
    DONE = "sink-done"  # but not reported to Spark


class PipelinePoint(Enum):
    """The points of a batch of a pipeline: first that of its tasks, then those of its driver."""

    TASK_WRITTEN = "pipeline-task-written"  # files and side records of one task, not reported
    STAGED = "pipeline-staged"  # tasks are done, nothing is decided
    SIDE_COMMITTED = "pipeline-side-committed"  # bad and late records are in their topics
    DECIDED = "pipeline-decided"  # but not published
    HALF_PUBLISHED = "pipeline-half-published"  # the first of several files
    COMMITTED = "pipeline-committed"  # but not reported to Spark


Point = FaultPoint | SinkPoint | PipelinePoint


def point_named(name: str) -> Point:
    if name.startswith("pipeline-"):
        return PipelinePoint(name)
    return SinkPoint(name) if name.startswith("sink-") else FaultPoint(name)


class FaultPoints:
    """At most one point is active; the process is killed at its n-th pass."""

    def __init__(self, environment: Mapping[str, str]) -> None:
        name, _, times = environment.get(VARIABLE, "").partition(":")
        self._armed = point_named(name) if name else None
        self._left = int(times or 1)
        self._victim = environment.get(VICTIM, "")
        self._once = environment.get(ONCE)

    def reach(self, point: Point) -> None:
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
        """Kill the victim, and this process unless the victim is another one."""
        if self._victim == JAVA:
            os.kill(java_above(os.getpid()), signal.SIGKILL)
        elif self._victim:
            with open(self._victim) as file:
                os.kill(int(file.read()), signal.SIGKILL)
            return  # only the other process is killed
        os.kill(os.getpid(), signal.SIGKILL)


def java_above(pid: int) -> int:
    """The nearest Java process among the ancestors of this one."""
    while pid > 1:
        with open(f"/proc/{pid}/stat") as file:
            name, _, rest = file.read().partition("(")[2].rpartition(")")
        if name == "java":
            return pid
        pid = int(rest.split()[1])
    raise ProcessLookupError("no Java process above this one")


reach = FaultPoints(os.environ).reach
