"""Batches that must be opened before they are appended, and are so large that it takes a while.

A topic with a codec of its own recompresses what comes in another one, and a compacted topic looks
for keys. Neither needs the log: it can be done in a thread, and the batch be appended afterwards.

Owns      the rule which batches are worth a thread, and what was found out about one in it.
Promises  appending a prepared batch is the same as appending it unprepared. Where the topic's rules
          have changed meanwhile, it is looked at again.
Threads   `Prepared.run` in any; it touches nothing but the bytes it was given.
Leaves    what is checked and changed to `admission.py`.
"""

from __future__ import annotations

from ottla.protocol.errors import BrokerError
from ottla.protocol.records.batch import CODEC_MASK, HEADER_BYTES, BatchHeader, Buffer
from ottla.storage.log.admission import Admitted, AppendRules, admit, stamp

# Smaller ones are done before a thread has begun. A compressed batch may be many times larger.
COMPRESSED_BYTES_MIN = 4 * 1024
UNCOMPRESSED_BYTES_MIN = 16 * 1024
_ATTRIBUTES_POSITION = 22


def is_worth_a_thread(data: Buffer, rules: AppendRules) -> bool:
    if not rules.may_open or len(data) < HEADER_BYTES:
        return False
    codec = data[_ATTRIBUTES_POSITION] & CODEC_MASK
    if rules.codec is not None and codec != rules.codec:
        return len(data) >= (COMPRESSED_BYTES_MIN if codec else UNCOMPRESSED_BYTES_MIN)
    return codec != 0 and rules.produce.is_compacted and len(data) >= COMPRESSED_BYTES_MIN


class Prepared:
    __slots__ = ("_admitted", "_data", "_error", "_now_ms", "_produce_version", "_rules")

    def __init__(self, data: Buffer, rules: AppendRules, produce_version: int, now_ms: int) -> None:
        self._data = data
        self._rules = rules
        self._produce_version = produce_version
        self._now_ms = now_ms
        self._admitted: Admitted | None = None
        self._error: BrokerError | None = None

    def __len__(self) -> int:
        return len(self._data)

    def run(self) -> None:
        """In a thread. What is wrong with the batch is told when it is appended."""
        try:
            self._admitted = admit(self._data, self._rules, self._produce_version, self._now_ms)
        except BrokerError as error:
            self._error = error

    def finish(self, rules: AppendRules, now_ms: int) -> tuple[bytearray | memoryview, BatchHeader]:
        """The batch, ready to get its offset; BrokerError if it is refused."""
        if rules is not self._rules:
            return stamp(admit(self._data, rules, self._produce_version, now_ms), rules, now_ms)
        if self._error is not None:
            raise self._error
        assert self._admitted is not None, "it was run"
        return stamp(self._admitted, rules, now_ms)
