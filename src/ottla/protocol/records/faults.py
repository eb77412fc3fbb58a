"""Faults of records in a batch, numbered for compiled code.

Owns      the list of faults, their messages and the error codes for producers.
Leaves    detection to `_native.pyx` and `_plain.py`, which must agree on every input.
"""

from __future__ import annotations

from enum import IntEnum

from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import InvalidBatch


class Fault(IntEnum):
    """The numbers are also in `_native.pyx`."""

    NONE = 0
    COUNT = 1
    TRUNCATED = 2
    VARINT = 3
    LENGTH = 4
    FIELD_LENGTH = 5
    HEADER_COUNT = 6
    HEADER_KEY = 7
    RECORD_END = 8
    BODY_END = 9
    OFFSET_DELTA = 10
    NULL_KEY = 11


WORDING = {
    Fault.COUNT: "more records are claimed than the bytes could hold",
    Fault.TRUNCATED: "the bytes end before the record does",
    Fault.VARINT: "a number is longer than its type allows",
    Fault.LENGTH: "the record's length does not fit into the batch",
    Fault.FIELD_LENGTH: "the length of a key, value or header does not fit into the record",
    Fault.HEADER_COUNT: "the number of headers does not fit into the record",
    Fault.HEADER_KEY: "a header has no key",
    Fault.RECORD_END: "the record's fields end before its length does",
    Fault.BODY_END: "bytes follow the last record",
    Fault.OFFSET_DELTA: "the offset is not one more than the one before",
    Fault.NULL_KEY: "a record without key cannot be in a compacted topic",
}


class InvalidRecord(InvalidBatch):
    """A batch rejected because of one record, which the Produce response identifies."""

    def __init__(self, code: ErrorCode, message: str, record: int) -> None:
        super().__init__(code, message)
        self.record = record  # its number in the batch, from 0

    def named(self) -> list[tuple[int, str]]:
        """Every record known to be invalid, by number, with the reason."""
        return [(self.record, self.message)]


class InvalidRecords(InvalidRecord):
    """A valid batch with records that its topic does not accept.

    They are listed: clients fail those with this error, and may send the others of the batch again.
    If there are very many, the first ones are listed, and the message has their number.
    """

    def __init__(
        self, code: ErrorCode, wrong: list[tuple[int, str]], *, count_min: int, are_all: bool
    ) -> None:
        """`count_min` were found, which are all if `are_all` is set."""
        record, what = wrong[0]
        if not are_all:
            what += f"; wrong records in the batch: at least {count_min}"
        elif count_min > 1:
            what += f"; wrong records in the batch: {count_min}"
        super().__init__(code, f"record {record}: {what}", record)
        self._wrong = wrong

    def named(self) -> list[tuple[int, str]]:
        return self._wrong


def invalid_record(fault: int, record: int, position: int) -> InvalidRecord:
    """The error for `fault` in the record with this number, at this byte of the records."""
    return InvalidRecord(
        ErrorCode.INVALID_RECORD,
        f"record {record} at byte {position} of the records: {WORDING[Fault(fault)]}",
        record,
    )
