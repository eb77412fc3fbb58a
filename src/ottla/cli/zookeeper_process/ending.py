"""The end of a server, noticed by another process: on a full disk ZooKeeper ends without a word."""

from __future__ import annotations

import os
import select
import time
from errno import EDQUOT, ENOSPC
from pathlib import Path

from ottla.cli.zookeeper_process.readiness import is_process_alive

FULL = (ENOSPC, EDQUOT)
PROBE_NAME = ".writable"
PROBE_BYTES = 64 * 1024  # a full disk can still have empty files
POLL_S = 1.0


def wait_for_end(pid: int) -> None:
    """Wait until a process has ended, which need not be a child of this one."""
    try:
        descriptor = os.pidfd_open(pid)
    except (AttributeError, OSError):  # not on Linux, or it has ended
        while is_process_alive(pid):
            time.sleep(POLL_S)
        return
    ended = select.poll()
    ended.register(descriptor, select.POLLIN)
    ended.poll()
    os.close(descriptor)


def write_probe(data: Path) -> None:
    """OSError if the directory takes no bytes."""
    probe = data / PROBE_NAME
    try:
        probe.write_bytes(bytes(PROBE_BYTES))
    finally:
        probe.unlink(missing_ok=True)


def is_disk_full(data: Path) -> bool:
    try:
        write_probe(data)
    except OSError as error:
        return error.errno in FULL
    return False
