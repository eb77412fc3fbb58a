"""What a listener counts. Plain numbers, which only grow: whoever reads them makes the rates."""

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
    connections_malformed: int = 0  # closed because of what they sent
    requests: int = 0
    answers: int = 0
    bytes_in: int = 0
    bytes_out: int = 0
    file_bytes_out: int = 0  # of these, sent without passing through the process
    cold_reads: int = 0  # parts of files that had to be fetched from the disk

    @property
    def connections_open(self) -> int:
        return self.connections_accepted - self.connections_closed
