"""What happened in a simulated cluster, step by step: everything that was sent, and every fault.

Two runs of a seed have the same trace, in any process. Their hashes are compared; if they differ,
the first different line says where to look.
"""

from __future__ import annotations

from collections.abc import Callable
from hashlib import sha256
from zlib import crc32

from tests.support.zookeeper_model import Change

SHOWN_DIGITS = 16


class Trace:
    def __init__(self, now_s: Callable[[], float]) -> None:
        self._now_s = now_s
        self.lines: list[str] = []

    def note(self, what: str) -> None:
        self.lines.append(f"{self._now_s():.6f} {what}")

    def sent(self, sender: str, receiver: str, data: bytes | None) -> None:
        """None is the end of a connection."""
        what = "end" if data is None else f"{len(data)} bytes #{crc32(data):08x}"
        self.note(f"{sender} > {receiver}: {what}")

    def committed(self, changes: tuple[Change, ...]) -> None:
        """By ZooKeeper."""
        for path, znode in ((each.path, each.znode) for each in changes):
            content = "deleted" if znode is None else f"{znode.version} #{crc32(znode.data):08x}"
            self.note(f"znode {path}: {content}")

    @property
    def digest(self) -> str:
        return sha256("\n".join(self.lines).encode()).hexdigest()[:SHOWN_DIGITS]
