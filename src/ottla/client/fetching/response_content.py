"""What one Fetch response contains, as `fetch_session.py` reads it and `fetcher.py` takes it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

from ottla.client.cluster.topology import Leader
from ottla.client.fetching.fetched_records import FetchedRecords
from ottla.client.fetching.read_position import ReadPosition
from ottla.config.addresses import Address
from ottla.protocol.error_codes import ErrorCode


class FetchProblem(NamedTuple):
    """A partition with an error, and its new leader if the response names one."""

    position: ReadPosition
    code: ErrorCode
    leader: Leader
    endpoints: dict[int, Address]


@dataclass
class ResponseContent:
    """The content of one response. After a session error the next request names every partition
    again."""

    records: list[FetchedRecords] = field(default_factory=list)
    problems: list[FetchProblem] = field(default_factory=list)
    done: list[ReadPosition] = field(default_factory=list)
    gaps: list[ReadPosition] = field(default_factory=list)  # no records seem to be left there
    moved: list[ReadPosition] = field(default_factory=list)  # to be read from another replica
    session_error: ErrorCode = ErrorCode.NONE
    waiting: str = ""  # what the reader waits for, for error messages
