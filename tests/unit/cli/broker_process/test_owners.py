from __future__ import annotations

import os
import socket
from pathlib import Path

from ottla.cli.broker_process.owners import (
    Process,
    listening_inodes,
    lock_owner,
    locking_pid,
    port_owner,
)
from ottla.testing.ports import non_ephemeral_port

TCP = """\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 0100007F:2384 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4711 1 0
   1: 0100007F:2384 0100007F:C3D0 01 00000000:00000000 00:00000000 00000000     0        0 4712 1 0
   2: 00000000:0016 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 4713 1 0
"""
LOCKS = """\
1: POSIX  ADVISORY  WRITE 321 fe:01:100 0 EOF
2: FLOCK  ADVISORY  WRITE 322 fe:01:200 0 EOF
2: -> POSIX  ADVISORY  WRITE 323 fe:01:300 0 EOF
"""


def test_only_sockets_that_listen_on_the_port_count() -> None:
    assert listening_inodes(TCP, 0x2384) == ["4711"]
    assert listening_inodes(TCP, 1) == []
    assert listening_inodes("", 1) == []


def test_the_holder_of_a_record_lock_is_found_by_device_and_inode() -> None:
    assert locking_pid(LOCKS, "fe:01:100") == 321
    assert locking_pid(LOCKS, "fe:01:200") is None
    assert locking_pid(LOCKS, "fe:01:300") is None


def test_our_own_port_is_ours() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        owner = port_owner(server.getsockname()[1])
    assert owner is not None
    assert owner.pid == os.getpid()
    assert str(owner).startswith(f"process {os.getpid()} (")


def test_no_owner_is_found_where_there_is_none(tmp_path: Path) -> None:
    assert port_owner(non_ephemeral_port()) is None
    assert lock_owner(str(tmp_path / "missing")) is None
    (tmp_path / "free").touch()
    assert lock_owner(str(tmp_path / "free")) is None


def test_a_process_without_a_known_command_is_its_number() -> None:
    assert str(Process(12, "")) == "process 12"
