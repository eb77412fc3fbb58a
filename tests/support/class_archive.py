"""Class archives: a JVM that maps one loads its classes in a fraction of the CPU time.

This is class data sharing (JEP 350): a training run writes the archive when it exits, and later
runs with the same class path and the same JVM map it.

Owns      `.cache/class-archives/`: one file for each name and state of what it was made of.
Promises  several processes may ask at once: one trains, the others wait. A file that is there is
          complete, because it gets its name last. Where no archive could be made the file is
          empty, and JVMs start without one. Where training failed, as on a busy machine, there is
          no file, JVMs start without one, and the next process that asks trains again.
"""

from __future__ import annotations

import hashlib
import subprocess
import sys
from collections.abc import Callable, Iterable
from functools import cache
from pathlib import Path

from tests.support.kafka_jars import ROOT, locked

FOLDER = ROOT / ".cache" / "class-archives"
# A short life with little to do: the quick compiler and the simplest collector start soonest.
SHORT_LIFE = ("-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto")


class TrainingFailed(Exception):
    """The program of the training run failed; the message has its output."""


def archive_of(name: str, parts: Iterable[str], train: Callable[[str], None]) -> Path:
    """The archive by this name for these parts: class path entries, versions.

    Where there is none, `train` starts a JVM with the option it is given, and ends it in order.
    """
    content = "\n".join([_java_version(), *parts]).encode()
    archive = FOLDER / f"{name}-{hashlib.sha256(content).hexdigest()[:16]}.jsa"
    with locked(archive.with_suffix(".lock")):
        if not archive.exists():
            partial = archive.with_suffix(".partial")
            partial.unlink(missing_ok=True)
            try:
                train(f"-XX:ArchiveClassesAtExit={partial}")
            except TrainingFailed as error:
                print(f"no class archive {name}: {error}", file=sys.stderr)
                return archive
            partial.touch()
            partial.rename(archive)
    return archive


def option_of(archive: Path) -> str:
    """A JVM that cannot use the archive ignores it."""
    return f"-XX:SharedArchiveFile={archive}"


@cache
def _java_version() -> str:
    done = subprocess.run(["java", "-version"], capture_output=True, text=True, check=True)
    return done.stderr
