"""Whether a ZooKeeper server serves clients: its answer to the four-letter command `srvr`."""

from __future__ import annotations

import math
import os
import socket
import time
from collections.abc import Callable

from ottla.config.addresses import Address

POLL_S = 0.02
ANSWER_S = 1.0
REMINDER_S = 5.0
ENDED = ("Z", "X")  # states in /proc


def is_serving(address: Address) -> bool:
    """False for a server of an ensemble without a quorum: it responds, but does not serve."""
    try:
        with socket.create_connection(address, ANSWER_S) as connection:
            connection.sendall(b"srvr")
            answer = b""
            while part := connection.recv(4096):
                answer += part
    except OSError:
        return False
    return b"Mode:" in answer


def wait_until_serving(
    address: Address, is_alive: Callable[[], bool], remind: Callable[[], None]
) -> bool:
    """False if the server ended before it served. `remind` is called once if that takes long."""
    remind_at_s = time.monotonic() + REMINDER_S
    while is_alive():
        if is_serving(address):
            return True
        if time.monotonic() >= remind_at_s:
            remind()
            remind_at_s = math.inf
        time.sleep(POLL_S)
    return False


def is_process_alive(pid: int) -> bool:
    """False for a process that has ended and that its parent has not waited for yet."""
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as file:
            return file.read().rpartition(")")[2].split()[0] not in ENDED
    except ProcessLookupError:
        return False
    except OSError:  # not on Linux, or ended just now
        return not os.path.exists("/proc/self/stat")
