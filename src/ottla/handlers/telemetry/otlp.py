"""OpenTelemetry metrics as clients push them: a protobuf message, of which only the frame is read.

MetricsData has ResourceMetrics (1), these have ScopeMetrics (2), and these have Metrics (2).
"""

from __future__ import annotations

from collections.abc import Iterator

from ottla.protocol.errors import MalformedMessage

RESOURCE_METRICS, SCOPE_METRICS, METRICS = 1, 2, 2
_VARINT, _FIXED64, _LENGTH, _FIXED32 = 0, 1, 2, 5
_VARINT_BYTES_MAX = 10
# A client has some hundred metrics. A few bytes may decompress to millions of fields.
FIELDS_MAX = 100_000


class OtlpReader:
    """Reads one message; MalformedMessage if it is not valid or has too many fields."""

    def __init__(self) -> None:
        self._fields_left = FIELDS_MAX

    def count_metrics(self, data: memoryview) -> int:
        return sum(
            1
            for resource in self._messages_in(data, RESOURCE_METRICS)
            for scope in self._messages_in(resource, SCOPE_METRICS)
            for _ in self._messages_in(scope, METRICS)
        )

    def _messages_in(self, data: memoryview, wanted: int) -> Iterator[memoryview]:
        """The messages in a field of a message; other fields are skipped."""
        at = 0
        while at < len(data):
            if (left := self._fields_left - 1) < 0:
                raise MalformedMessage(f"more than {FIELDS_MAX} fields")
            self._fields_left = left
            tag, at = read_varint(data, at)
            kind = tag & 7
            if kind == _LENGTH:
                size, at = read_varint(data, at)
                if size > len(data) - at:
                    raise MalformedMessage(f"{size} bytes announced, {len(data) - at} are left")
                if tag >> 3 == wanted:
                    yield data[at : at + size]
                at += size
            elif kind == _VARINT:
                _, at = read_varint(data, at)
            elif kind in (_FIXED64, _FIXED32):
                at += 8 if kind == _FIXED64 else 4
            else:
                raise MalformedMessage(f"no such kind of field: {kind}")
        if at > len(data):
            raise MalformedMessage("it ends in the middle of a field")


def read_varint(data: memoryview, at: int) -> tuple[int, int]:
    value = 0
    for shift in range(0, 7 * _VARINT_BYTES_MAX, 7):
        if at >= len(data):
            raise MalformedMessage("it ends in the middle of a number")
        byte = data[at]
        at += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, at
    raise MalformedMessage("a number is too long")
