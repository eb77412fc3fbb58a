"""Decisions: which transactions of a batch are to be committed. Their content and their encoding.

Owns      the records of the decisions topic. Keys are `decision/<sink>` and `ended/<sink>`, values
          are JSON with a version; compaction keeps the last of each.
Promises  `decode_` reads what `encode_` wrote; a record of a newer version, or one that is no
          decision, is a SinkError, and concerns no other sink.
Leaves    the topic to `decision_log.py`, what follows from a decision to `plan.py`.
"""

from __future__ import annotations

import contextlib
import itertools
import json
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple, Self

from ottla.spark.sink.errors import SinkError

VERSION = 1
DECISION, ENDED = "decision", "ended"


class Written(NamedTuple):
    """Records of one transaction in one partition; there may be records of others in between."""

    topic: str
    partition: int
    first_offset: int
    last_offset: int
    records: int
    # Start and end of each range of offsets; empty if it is one, from the first to the last.
    ranges: tuple[tuple[int, int], ...] = ()

    @classmethod
    def of(
        cls, topic: str, partition: int, records: int, ranges: Sequence[tuple[int, int]]
    ) -> Self:
        """The offsets are unknown if there are no ranges."""
        first, last = (ranges[0][0], ranges[-1][1] - 1) if ranges else (-1, -1)
        several = tuple((start, end) for start, end in ranges) if len(ranges) > 1 else ()
        return cls(topic, partition, first, last, records, several)

    def all_ranges(self) -> tuple[tuple[int, int], ...]:
        if self.ranges or self.first_offset < 0:
            return self.ranges
        return ((self.first_offset, self.last_offset + 1),)


class TaskTransaction(NamedTuple):
    """The transaction of one task attempt, with all that another process needs to end it."""

    transactional_id: str
    producer_id: int
    producer_epoch: int
    written: tuple[Written, ...]


class Origin(NamedTuple):
    """What a batch was written for. Each field is empty where it is not known."""

    query: str = ""  # the streaming query whose foreachBatch writes
    run: str = ""  # its run: a restart is another one
    offsets: str = ""  # a digest of the batch's entry in the checkpoint of a stream


UNKNOWN = Origin()


@dataclass(frozen=True)
class CommitDecision:
    """The transactions that are committed for this batch of the query; all others are aborted."""

    sink: str
    query: str
    batch: int
    transactions: tuple[TaskTransaction, ...]
    decided_ms: int = 0
    origin: Origin = UNKNOWN


@dataclass(frozen=True)
class SinkState:
    """The last decision of a sink, and whether all its transactions are known to have ended.

    `last_run` is the run that wrote the batch, or skipped it after the one that wrote it.
    """

    decision: CommitDecision | None = None
    is_ended: bool = True
    last_run: str = ""


NOTHING_DECIDED = SinkState()


def key_of(kind: str, sink: str) -> bytes:
    return f"{kind}/{sink}".encode()


def split_key(key: bytes) -> tuple[str, str]:
    """Kind and sink; the kind may be one of a newer release."""
    kind, _, sink = key.decode(errors="replace").partition("/")
    return kind, sink


def encode_decision(decision: CommitDecision) -> bytes:
    return _encode({
        "query": decision.query,
        "batch": decision.batch,
        "decided_ms": decision.decided_ms,
        **_known_fields(decision.origin),
        "transactions": [_transaction_fields(each) for each in decision.transactions],
    })  # fmt: skip


def encode_ended(decision: CommitDecision) -> bytes:
    run = Origin(run=decision.origin.run)
    return _encode({"query": decision.query, "batch": decision.batch, **_known_fields(run)})


def _known_fields(origin: Origin) -> dict[str, Any]:
    """Releases without this field ignore it, so the version stays."""
    known = {name: value for name, value in origin._asdict().items() if value}
    return {"origin": known} if known else {}


def _encode(fields: dict[str, Any]) -> bytes:
    return json.dumps({"version": VERSION, **fields}, separators=(",", ":")).encode()


def _transaction_fields(transaction: TaskTransaction) -> dict[str, Any]:
    written: dict[str, list[list[Any]]] = {}
    for topic, *numbers, ranges in transaction.written:
        written.setdefault(topic, []).append([*numbers, *itertools.chain(*ranges)])
    return {
        "id": transaction.transactional_id,
        "producer": [transaction.producer_id, transaction.producer_epoch],
        "written": written,
    }


def decode_decision(sink: str, value: bytes) -> CommitDecision:
    with _reading(DECISION, sink):
        fields = _decode(sink, value)
        return CommitDecision(
            sink,
            fields["query"],
            fields["batch"],
            tuple(_transaction(each) for each in fields["transactions"]),
            fields["decided_ms"],
            _origin(fields),
        )


def decode_ended(sink: str, value: bytes) -> tuple[str, int, str]:
    """Query and batch whose transactions have all ended, and the run that noted it."""
    with _reading(ENDED, sink):
        fields = _decode(sink, value)
        return fields["query"], fields["batch"], _origin(fields).run


@contextlib.contextmanager
def _reading(kind: str, sink: str) -> Iterator[None]:
    """Any client that may write to the topic can have written the record."""
    try:
        yield
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise SinkError(
            f"The record {kind}/{sink} in the topic of decisions cannot be read "
            f"({type(error).__name__}: {error}): something else has written it. Whether the last "
            f"batch of that sink was written is not known. Compare the topic that it writes to, "
            f"then delete the record: write a null value under the same key."
        ) from error


def _origin(fields: dict[str, Any]) -> Origin:
    found = fields.get("origin", {})
    return Origin(*(found.get(name, "") for name in Origin._fields))


def _decode(sink: str, value: bytes) -> dict[str, Any]:
    fields: dict[str, Any] = json.loads(value)
    if fields["version"] > VERSION:
        raise SinkError(
            f"The last decision of the sink {sink} has version {fields['version']}, and this "
            f"release reads versions up to {VERSION}: use the newer release that wrote it."
        )
    return fields


def _transaction(fields: dict[str, Any]) -> TaskTransaction:
    producer_id, producer_epoch = fields["producer"]
    written = tuple(
        _written(topic, *numbers) for topic, each in fields["written"].items() for numbers in each
    )
    return TaskTransaction(fields["id"], producer_id, producer_epoch, written)


def _written(
    topic: str, partition: int, first: int, last: int, records: int, *bounds: int
) -> Written:
    """After the number of records come start and end of each range, if there are several."""
    ranges = tuple(zip(bounds[::2], bounds[1::2], strict=True))
    return Written(topic, partition, first, last, records, ranges)


class DecisionReader:
    """The states of all sinks, from the records of the topic in their order."""

    def __init__(self) -> None:
        self._decisions: dict[str, bytes] = {}
        self._ended: dict[str, bytes] = {}

    def apply(self, key: bytes | None, value: bytes | None) -> None:
        if key is None:
            return
        kind, sink = split_key(key)
        values = {DECISION: self._decisions, ENDED: self._ended}.get(kind)
        if values is None:
            return
        values.pop(sink, None)  # the last one is the last in the order of the dictionary
        if value is not None:
            values[sink] = value

    def copy(self) -> DecisionReader:
        """A copy that later records do not change."""
        copy = DecisionReader()
        copy._decisions, copy._ended = dict(self._decisions), dict(self._ended)
        return copy

    def sinks(self) -> Iterable[str]:
        return self._decisions.keys()

    def state_of(self, sink: str) -> SinkState:
        if (value := self._decisions.get(sink)) is None:
            return NOTHING_DECIDED
        decision = decode_decision(sink, value)
        last_run = decision.origin.run
        if (ended := self._ended.get(sink)) is None:
            return SinkState(decision, False, last_run)
        query, batch, run = decode_ended(sink, ended)
        is_ended = (query, batch) == (decision.query, decision.batch)
        return SinkState(decision, is_ended, run if is_ended and run else last_run)

    def sink_of_query(self, query: str) -> str | None:
        """The name under which a query has decided last, if it ever did."""
        found = [sink for sink in self._decisions if self._query_of(sink) == query]
        return found[-1] if found else None

    def _query_of(self, sink: str) -> str | None:
        """None if the record is none of ours. It may be one of a newer release."""
        try:
            query = json.loads(self._decisions[sink])["query"]
        except (ValueError, LookupError, TypeError):
            return None
        return query if isinstance(query, str) else None
