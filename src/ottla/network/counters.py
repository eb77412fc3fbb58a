"""The counters of a listener. They only grow: a reader computes rates from differences."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

from ottla.network.limits import Refusal
from ottla.network.timeouts import Reason


@dataclass(slots=True)
class NetworkCounters:
    connections_accepted: int = 0
    connections_closed: int = 0
    connections_refused: Counter[Refusal] = field(default_factory=Counter)
    connections_reaped: Counter[Reason] = field(default_factory=Counter)
    connections_malformed: int = 0  # closed because of a malformed request
    requests: int = 0
    answers: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    file_bytes_out: int = 0  # of bytes_out, sent by `sendfile`
    cold_reads: int = 0  # parts of files that were not in the page cache

    @property
    def connections_open(self) -> int:
        return self.connections_accepted - self.connections_closed
