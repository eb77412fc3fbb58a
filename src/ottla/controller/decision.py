"""The result of a decision: records that carry it out, and the answer to the request.

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
PARTITIONS_MAX = 10_000  # that one request may create; as in Kafka
RECORDS_MAX = 20_000  # that one request may cause
NAMED_MAX = 100_000  # things that one request may name, where each takes some microseconds
CHANGED_MAX = 10_000  # things that one request may name, where each takes longer
QUOTED_CHARACTERS_MAX = 300  # of a client's text: a message may be repeated for many items


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
    """One item of a request is refused. Without a message only the code is sent."""


def refuse_too_many(partitions: int) -> None:
    if partitions > PARTITIONS_MAX:
        raise Refused(
            ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request."
        )


def check_count(count: int, count_max: int = NAMED_MAX) -> None:
    """Refuse what would keep everybody else's changes waiting for long."""
    if count > count_max:
        raise Refused(
            ErrorCode.POLICY_VIOLATION,
            f"Unable to perform excessively large batch operation: {count} entries in a request, "
            f"{count_max} are allowed.",
        )


def check_size(decision: Decision[T]) -> Decision[T]:
    """The decision, unless it has more records than one batch of the metadata log should have."""
    if (count := len(decision.records)) > RECORDS_MAX:
        raise Refused(
            ErrorCode.POLICY_VIOLATION,
            f"Unable to perform excessively large batch operation: {count} records, "
            f"{RECORDS_MAX} are allowed.",
        )
    return decision


def quoted(text: str) -> str:
    """A client's text for a message, or the beginning of a long one."""
    is_long = len(text) > QUOTED_CHARACTERS_MAX
    return f"{text[:QUOTED_CHARACTERS_MAX]}..." if is_long else text
