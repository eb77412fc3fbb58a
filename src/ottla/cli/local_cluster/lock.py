"""The lock of a cluster's directory: held as long as `ottla cluster up` runs, however it ends."""

from __future__ import annotations

import fcntl
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

POLL_S = 0.02
TIMEOUT_S = 0.3  # longer than another command has the lock, to see whether it is free


class Locked(Exception):
    """Another process has the lock."""


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Locked if another process has it."""
    if not wait_until_unlocked(path, TIMEOUT_S):
        raise Locked
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT, 0o644)
    try:
        if not try_lock(descriptor, fcntl.LOCK_EX):
            raise Locked
        yield
    finally:
        os.close(descriptor)


def try_lock(descriptor: int, kind: int) -> bool:
    try:
        fcntl.flock(descriptor, kind | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    return True


def is_locked(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except FileNotFoundError:
        return False
    try:
        return not try_lock(descriptor, fcntl.LOCK_SH)
    finally:
        os.close(descriptor)


def wait_until_unlocked(path: Path, timeout_s: float) -> bool:
    deadline_s = time.monotonic() + timeout_s
    while is_locked(path):
        if time.monotonic() >= deadline_s:
            return False
        time.sleep(POLL_S)
    return True
