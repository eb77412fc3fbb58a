from __future__ import annotations

import os
import subprocess
import sys

from ottla.cli.zookeeper_process.readiness import is_process_alive


def test_a_process_that_has_ended_is_not_alive_before_its_parent_notices() -> None:
    assert is_process_alive(os.getpid())
    ended = subprocess.Popen([sys.executable, "-c", ""], stdout=subprocess.PIPE)
    assert ended.stdout is not None
    ended.stdout.read()
    os.waitid(os.P_PID, ended.pid, os.WEXITED | os.WNOWAIT)  # it stays a zombie
    assert not is_process_alive(ended.pid)
    ended.wait()
    ended.stdout.close()
    assert not is_process_alive(ended.pid)
