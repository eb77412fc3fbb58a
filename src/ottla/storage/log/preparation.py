"""Batches that must be decompressed before they are appended, which may take long.

A topic with its own codec recompresses batches in another one, and a compacted topic checks that
records have keys. Neither needs the log: it is done in a thread, and the batch is appended after.

Owns      which batches are decompressed in a thread, and the result.
Promises  appending a prepared batch is the same as appending it unprepared. If the rules of the
          topic have changed, it is checked again. What is decompressed on the event loop is small
          before and after: no client can block the loop with a batch of zeros.
Threads   `Prepared.run` in any; it uses only the bytes it was given.
Leaves    what is checked and changed to `admission.py`.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from ottla.base.memory.stored_errors import raise_stored, without_traceback
from ottla.protocol.errors import BrokerError
from ottla.protocol.records.batch import CODEC_MASK, HEADER_BYTES, BatchHeader, Buffer
from ottla.storage.log.admission import Admitted, AppendRules, admit, stamp

# A compressed batch may consist of very many empty blocks, each of which takes time.
COMPRESSED_BYTES_AT_ONCE = 1024
CLOSED = 0.0
_ATTRIBUTES_POSITION = 22


def share_of_iteration(data: Buffer, rules: AppendRules) -> float:
    """The size of this batch relative to what may be decompressed in one iteration of the event
    loop: above 1 it needs a thread, and CLOSED batches are not decompressed."""
    if not rules.may_open or len(data) < HEADER_BYTES:
        return CLOSED
    codec = data[_ATTRIBUTES_POSITION] & CODEC_MASK
    if rules.codec is not None and codec != rules.codec:
        return len(data) / (COMPRESSED_BYTES_AT_ONCE if codec else rules.bytes_at_once)
    if codec != 0 and rules.produce.is_compacted:
        return len(data) / COMPRESSED_BYTES_AT_ONCE
    return CLOSED


@lru_cache(maxsize=256)  # topics whose batches are decompressed
def _rules_at_once(rules: AppendRules) -> AppendRules:
    produce = replace(rules.produce, decompressed_bytes_max=rules.bytes_at_once)
    return rules._replace(produce=produce)


class Prepared:
    __slots__ = ("_admitted", "_data", "_now_ms", "_produce_version", "_refused", "_rules")

    def __init__(self, data: Buffer, rules: AppendRules, produce_version: int, now_ms: int) -> None:
        self._data = data
        self._rules = rules
        self._produce_version = produce_version
        self._now_ms = now_ms
        self._admitted: Admitted | None = None
        self._refused: list[BrokerError] = []  # one at most

    def __len__(self) -> int:
        return len(self._data)

    def run_at_once(self) -> bool:
        """On the event loop. False if it decompresses to too much, or is refused: then `run`."""
        rules = _rules_at_once(self._rules)
        try:
            self._admitted = admit(self._data, rules, self._produce_version, self._now_ms)
        except BrokerError:
            return False
        return True

    def run(self) -> None:
        """Runs in a thread. If the batch is refused, `finish` raises the error."""
        if self._admitted is not None:
            return
        try:
            self._admitted = admit(self._data, self._rules, self._produce_version, self._now_ms)
        except BrokerError as error:
            self._refused.append(without_traceback(error))

    def finish(self, rules: AppendRules, now_ms: int) -> tuple[bytearray | memoryview, BatchHeader]:
        """The batch without its offset, and its header; BrokerError if it is refused."""
        if rules is not self._rules:
            return stamp(admit(self._data, rules, self._produce_version, now_ms), rules, now_ms)
        if self._refused:
            raise_stored(self._refused)
        assert self._admitted is not None, "it was run"
        return stamp(self._admitted, rules, now_ms)
