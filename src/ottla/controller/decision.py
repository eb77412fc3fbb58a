"""The result of a decision: metadata records, and the answer to the request.

Deciding changes nothing. Either all records of a decision are appended, or none.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from ottla.metadata.records import Record
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

T = TypeVar("T")
IsAllowed = Callable[[str], bool]
# number of partitions; BrokerError if the controller mutation quota is exceeded
Charge = Callable[[int], None]
PARTITIONS_MAX = 10_000  # per request, as in Kafka
RECORDS_MAX = 20_000  # per request
NAMED_MAX = 100_000  # entries per request that take some microseconds each
CHANGED_MAX = 10_000  # entries per request that take longer each
QUOTED_CHARACTERS_MAX = 300  # of text from clients: a message may be repeated for many items


@dataclass(frozen=True, slots=True)
class Decision(Generic[T]):
    records: tuple[Record, ...]
    answer: T


def allow_all(_name: str) -> bool:
    """Authorization before ACLs are supported: everything is allowed."""
    return True


def no_quota(_partitions: int) -> None:
    """No controller mutation quota."""


class ItemRejected(BrokerError):
    """One item of a request is rejected. Without a message only the code is sent."""


def refuse_too_many(partitions: int) -> None:
    if partitions > PARTITIONS_MAX:
        raise ItemRejected(
            ErrorCode.POLICY_VIOLATION, "Excessively large number of partitions per request."
        )


def check_count(count: int, count_max: int = NAMED_MAX) -> None:
    """Reject requests that would delay other changes for long."""
    if count > count_max:
        raise ItemRejected(
            ErrorCode.POLICY_VIOLATION,
            f"Unable to perform excessively large batch operation: {count} entries in a request, "
            f"{count_max} are allowed.",
        )


def check_size(decision: Decision[T]) -> Decision[T]:
    """The decision, unless it has too many records for one batch of the metadata log."""
    if (count := len(decision.records)) > RECORDS_MAX:
        raise ItemRejected(
            ErrorCode.POLICY_VIOLATION,
            f"Unable to perform excessively large batch operation: {count} records, "
            f"{RECORDS_MAX} are allowed.",
        )
    return decision


def quoted(text: str) -> str:
    """Text from a client for a message, truncated if it is long."""
    is_long = len(text) > QUOTED_CHARACTERS_MAX
    return f"{text[:QUOTED_CHARACTERS_MAX]}..." if is_long else text
