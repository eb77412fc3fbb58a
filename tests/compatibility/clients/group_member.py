"""A consumer in a process of its own, for tests that kill it: what it has and reads is printed.

    python -m tests.compatibility.clients.group_member '{"client": "aiokafka", ...}'

It ends when its output is closed.
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
import time
from pathlib import Path
from typing import Any

from tests.compatibility.clients.group_readers import PATIENCE_S, READERS

ROOT = Path(__file__).parents[3]
PAUSE_S = 0.02


class MortalReader(threading.Thread):
    """The other end: a member that can be killed as a crash would end it."""

    def __init__(self, client: str, bootstrap: str, group: str, topic: str, **settings: Any):
        super().__init__(daemon=True)
        self.records: list[bytes] = []
        self.partitions: frozenset[int] = frozenset()
        self.failure: BaseException | None = None
        self._is_killed = False
        wanted = {
            "client": client, "bootstrap": bootstrap, "group": group, "topic": topic,
            "settings": settings,
        }  # fmt: skip
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.compatibility.clients.group_member", json.dumps(wanted)],
            cwd=ROOT, stdout=subprocess.PIPE,
        )  # fmt: skip
        self.start()

    def run(self) -> None:
        assert self._process.stdout is not None
        for line in self._process.stdout:
            reported = json.loads(line)
            self.records += [each.encode() for each in reported["records"]]
            self.partitions = frozenset(reported["partitions"])
        if not self._is_killed:
            self.failure = AssertionError("the member has ended by itself")

    def kill(self) -> None:
        self._is_killed = True
        self._process.kill()
        self._process.wait(PATIENCE_S)
        self.join(PATIENCE_S)
        assert self._process.stdout is not None
        self._process.stdout.close()

    leave = kill


def main(wanted: dict[str, Any]) -> int:
    kind = READERS[wanted["client"]]
    reader = kind(wanted["bootstrap"], wanted["group"], wanted["topic"], **wanted["settings"])
    reported = 0
    while reader.failure is None:
        read = reader.records[reported:]
        reported += len(read)
        state = {"partitions": sorted(reader.partitions), "records": [e.decode() for e in read]}
        print(json.dumps(state), flush=True)
        time.sleep(PAUSE_S)
    raise reader.failure


if __name__ == "__main__":
    sys.exit(main(json.loads(sys.argv[1])))
