"""Which operations on the in-memory disk fail, and with which error."""

from __future__ import annotations

import os
from collections.abc import Collection
from dataclasses import dataclass
from fnmatch import fnmatchcase

READS = frozenset({"open", "read", "size", "exists", "list", "space"})
CHANGES = frozenset(
    {"create", "write", "truncate", "extend", "make_directory", "rename", "remove", "lock"}
)
SYNCS = frozenset({"sync", "sync_directory"})
ANY = READS | CHANGES | SYNCS


@dataclass(slots=True)
class DiskFault:
    kinds: frozenset[str]
    path_pattern: str
    error: int
    skip: int  # matching operations that still succeed
    times: int | None  # how many fail after that; None means all
    keep_bytes: int  # how much of a failing write is written

    def happens(self, kind: str, path: str) -> bool:
        if kind not in self.kinds or self.times == 0 or not fnmatchcase(path, self.path_pattern):
            return False
        if self.skip:
            self.skip -= 1
            return False
        if self.times is not None:
            self.times -= 1
        return True

    def exception(self, path: str) -> OSError:
        return OSError(self.error, os.strerror(self.error), path)


def kinds_of(kinds: str | Collection[str]) -> frozenset[str]:
    chosen = frozenset([kinds] if isinstance(kinds, str) else kinds)
    if unknown := chosen - ANY:
        raise ValueError(f"no such operations: {', '.join(sorted(unknown))}")
    return chosen
