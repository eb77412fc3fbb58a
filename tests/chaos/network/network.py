"""The network of a cluster under test: doors in front of every server, and its faults.

clients-1     the listener of broker 1 for clients
brokers-1     the listener of broker 1 for other brokers
zookeeper-1   ZooKeeper, as broker 1 reaches it
"""

from __future__ import annotations

import json
import subprocess
import sys
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any, Self

from tests.chaos.network.rules import Rule, encode

ROOT = Path(__file__).parents[3]


class Network:
    def __init__(self) -> None:
        self._process: subprocess.Popen[str] | None = None
        self._asking = threading.Lock()

    def start(self) -> Self:
        self._process = subprocess.Popen(
            [sys.executable, "-m", "tests.chaos.network.proxy_process"],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
            cwd=ROOT,
        )
        return self

    def close(self) -> None:
        process, self._process = self._process, None
        if process is not None:
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.close()
            try:
                process.wait(10)
            finally:
                process.kill()
                process.wait()
                process.stdout.close()

    def add(self, name: str, port: int, target: int) -> None:
        """A door on this port, to a server on that one."""
        self._ask(do="add", name=name, port=port, target=target)

    def open(self, name: str) -> None:
        self._ask(do="open", name=name)

    def shut(self, name: str) -> None:
        """New connections are refused."""
        self._ask(do="shut", name=name)

    def apply(self, rules: Iterable[Rule]) -> None:
        """In the place of all rules before."""
        self._ask(do="rules", rules=encode(rules))

    def heal(self) -> None:
        self.apply([])

    def reset(self, source: str, target: str) -> int:
        """End the connections of matching links; how many there were."""
        count = self._ask(do="reset", source=source, target=target)
        assert isinstance(count, int)
        return count

    def dropped(self) -> int:
        """How many pieces of data were dropped, each with its connection."""
        count = self._ask(do="count dropped")
        assert isinstance(count, int)
        return count

    def flipped(self) -> int:
        """How many bits of records were changed."""
        count = self._ask(do="count flipped")
        assert isinstance(count, int)
        return count

    def _ask(self, **command: Any) -> object:
        with self._asking:
            process = self._process
            assert process is not None
            assert process.stdin is not None
            assert process.stdout is not None
            process.stdin.write(json.dumps(command) + "\n")
            process.stdin.flush()
            answer: object = json.loads(process.stdout.readline())
            return answer
