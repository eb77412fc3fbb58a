"""What deciding gives: records that make it so, and the answer for whoever asked.

A decision changes nothing. Either all of its records are appended, or it did not happen.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from ottla.metadata.records import Record
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

T = TypeVar("T")
Permit = Callable[[str], bool]
Charge = Callable[[int], None]  # partitions; BrokerError when the quota on changes is used up
RECORDS_MAX = 10_000  # that one request may cause; as in Kafka


@dataclass(frozen=True, slots=True)
class Decision(Generic[T]):
    records: tuple[Record, ...]
    answer: T


def everyone(_name: str) -> bool:
    """Permission while nobody is asked who he is."""
    return True


def nothing_charged(_partitions: int) -> None:
    """No quota on changes."""


class Refused(BrokerError):
    """One item of a request is refused. Without a message only the code is told."""


def refuse_too_many(partitions: int) -> None:
    if partitions > RECORDS_MAX:
        raise Refused(
            ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request."
        )
