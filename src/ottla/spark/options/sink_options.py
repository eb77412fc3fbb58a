"""The options of a query that writes, declared once: name, type, check, explanation.

Owns      the table of options, which are those of Spark's `kafka` format and a few of our own.
Leaves    names and texts to `option_table.py`, `kafka.*` to `producer_options.py`, what names the
          sink to `names.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ottla.config.checks import anything, at_least, one_of
from ottla.config.kinds import BOOLEAN, LONG, STRING, optional
from ottla.config.options import MIB, InvalidOption, option
from ottla.spark.options.option_table import WORD, OptionTable

EXACTLY_ONCE, AT_LEAST_ONCE = "exactly-once", "at-least-once"
DECISIONS_TOPIC = "ottla-spark-decisions"
NAME = re.compile(r"[A-Za-z0-9._-]{1,180}")


def plain_name(_name: str, value: str | None) -> str | None:
    if value is None or NAME.fullmatch(value):
        return None
    return "must be 1 to 180 letters, digits, dots, hyphens or underscores"


@dataclass(frozen=True)
class RowOptions:
    topic: str | None = option(
        "topic",
        None,
        optional(STRING),
        anything,
        "The topic of all rows; goes before a column topic.",
    )
    include_headers: bool = option(
        "includeHeaders",
        True,
        BOOLEAN,
        anything,
        "Accepted, and without effect: a column headers is always written.",
    )
    chunk_bytes: int = option(
        "chunkBytes",
        16 * MIB,
        LONG,
        at_least(1),
        "Ours. Rows that a task gathers before it sorts them by partition: more make larger "
        "batches, and take that much memory a few times over.",
    )


@dataclass(frozen=True)
class DeliveryOptions:
    delivery: str = option(
        "delivery",
        EXACTLY_ONCE,
        WORD,
        one_of(EXACTLY_ONCE, AT_LEAST_ONCE),
        "Ours. exactly-once writes in transactions that are decided together; at-least-once "
        "writes without, and a task or batch that runs again writes its rows again.",
    )
    sink_name: str | None = option(
        "sinkName",
        None,
        optional(STRING),
        plain_name,
        "Ours. Under this name a restarted query finds what it decided before. Default: made of "
        "the checkpoint, so that it stays the same for a query and differs between queries.",
    )
    decisions_topic: str = option(
        "decisionsTopic",
        DECISIONS_TOPIC,
        STRING,
        plain_name,
        "Ours. The compacted topic with the decisions of all sinks; created where it is missing.",
    )
    accept_torn_batch: int | None = option(
        "acceptTornBatch",
        None,
        optional(LONG),
        at_least(0),
        "Ours. The number of a torn batch to be taken as it is, after somebody has looked at it.",
    )
    txn_app_id: str | None = option(
        "txnAppId",
        None,
        optional(STRING),
        plain_name,
        "For foreachBatch: the name under which txnVersion counts, as Delta has it: for each topic "
        "by itself. Where a column names the topics, give each write a name of its own.",
    )
    txn_version: int | None = option(
        "txnVersion",
        None,
        optional(LONG),
        at_least(0),
        "For foreachBatch: the batch id. A version that is not above the last one written to the "
        "topic under txnAppId writes nothing.",
    )


@dataclass(frozen=True)
class QueryOptions:
    """What Spark itself passes on."""

    checkpoint_location: str | None = option(
        "checkpointLocation", None, optional(STRING), anything, "Spark's own; it names the sink."
    )
    query_name: str | None = option(
        "queryName", None, optional(STRING), anything, "Spark's own; without effect here."
    )


@dataclass(frozen=True)
class SinkOptions(QueryOptions, DeliveryOptions, RowOptions):
    """Everything but `kafka.*`."""

    @property
    def is_exactly_once(self) -> bool:
        return self.delivery == EXACTLY_ONCE


ELSEWHERE = {
    "path": "the format ottla has no path: name the topic with the option topic, or a column",
    "subscribe": "subscribe is an option for reading: to write, use topic",
    "subscribepattern": "subscribePattern is an option for reading: to write, use topic",
}
_TABLE = OptionTable(SinkOptions, " for writing", ELSEWHERE)
SINK_OPTIONS = _TABLE.declared


def parse_sink_options(texts: Mapping[str, str]) -> SinkOptions:
    """InvalidOption names the option that is unknown or has an impossible value."""
    options = _TABLE.parse(texts)
    if (options.txn_app_id is None) != (options.txn_version is None):
        raise InvalidOption(
            "The options txnAppId and txnVersion are given together, or not at all."
        )
    return options
