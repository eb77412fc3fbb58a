"""`ottla pipeline run --once`, which notes the processes that a test may kill.

    python -m tests.integration.pipelines.watched_run DIRECTORY FILE

Writes the numbers of the driver's JVM and of one executor to DIRECTORY/jvm.pid and executor.pid.
"""

from __future__ import annotations

import sys
import threading
import time
from pathlib import Path

from ottla.cli.main import main

POLL_S = 0.05


def children(pid: int) -> list[int]:
    found = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(word) for each in found for word in _text(each).split()]


def is_java(pid: int) -> bool:
    return _text(Path(f"/proc/{pid}/comm")).strip() == "java"


def java_below(pid: int) -> list[int]:
    """The nearest Java processes below a process; a shell may be in between."""
    found: list[int] = []
    for child in children(pid):
        found += [child] if is_java(child) else java_below(child)
    return found


def _text(path: Path) -> str:
    try:
        return path.read_text()
    except OSError:  # the process has ended
        return ""


def watch(directory: Path, pid: int) -> None:
    """Until the process ends."""
    while True:
        for jvm in java_below(pid)[:1]:
            note(directory / "jvm.pid", jvm)
            for executor in java_below(jvm)[:1]:
                note(directory / "executor.pid", executor)
        time.sleep(POLL_S)


def note(path: Path, pid: int) -> None:
    new = path.with_suffix(".new")
    new.write_text(str(pid))
    new.rename(path)


if __name__ == "__main__":
    import os

    watcher = threading.Thread(
        target=watch, args=(Path(sys.argv[1]), os.getpid()), daemon=True, name="watch"
    )
    watcher.start()
    sys.exit(main(["pipeline", "run", "--once", *sys.argv[2:]]))
