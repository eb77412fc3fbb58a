"""The options of a query that writes, declared once: name, type, check, explanation.

Owns      the table of options: those of Spark's `kafka` format, and additions.
Leaves    parsing to `option_table.py`, `kafka.*` to `producer_options.py`, the name of the sink to
          `sink/names.py`.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from ottla.config.checks import anything, at_least, one_of
from ottla.config.kinds import BOOLEAN, LONG, STRING, optional
from ottla.config.options import MIB, InvalidOption, option
from ottla.spark.options.option_table import WORD, OptionTable, topic_name
from ottla.spark.options.source_options import SOURCE_OPTIONS

EXACTLY_ONCE, AT_LEAST_ONCE = "exactly-once", "at-least-once"
DECISIONS_TOPIC = "ottla-spark-decisions"
DECISIONS_ONLY = "it holds the decisions of sinks, and no rows: write to another topic."
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
        topic_name,
        "The topic of all rows; takes precedence over a column topic.",
    )
    include_headers: bool = option(
        "includeHeaders",
        True,
        BOOLEAN,
        anything,
        "Accepted without effect: a column headers is always written.",
    )
    chunk_bytes: int = option(
        "chunkBytes",
        16 * MIB,
        LONG,
        at_least(1),
        "Ours. Bytes of rows that a task collects before it sorts them by partition. More makes "
        "larger batches, and takes several times as much memory.",
    )


@dataclass(frozen=True)
class DeliveryOptions:
    delivery: str = option(
        "delivery",
        EXACTLY_ONCE,
        WORD,
        one_of(EXACTLY_ONCE, AT_LEAST_ONCE),
        "Ours. exactly-once writes in transactions that are committed together; at-least-once "
        "writes without transactions, and a task or batch that is repeated writes its rows again.",
    )
    sink_name: str | None = option(
        "sinkName",
        None,
        optional(STRING),
        plain_name,
        "Ours. The name under which a restarted query finds its earlier decisions. Default: "
        "derived from the checkpoint, so that each query has a name of its own that stays.",
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
        "Ours. The number of a batch that was committed only in part, to continue after it.",
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
        "topic under txnAppId writes nothing, and is an error if it was another write that had it: "
        "of the same run of a query, or of another query.",
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

    def holds_decisions(self, topic: str) -> bool:
        """Rows in such a topic would be taken for decisions, by every sink that uses it."""
        return topic in (self.decisions_topic, DECISIONS_TOPIC)


MISPLACED = dict.fromkeys(SOURCE_OPTIONS, "it is for reading") | {
    "path": "topics have no path: name the topic with the option topic, or a column topic",
    "subscribe": "it is for reading; to write, use topic",
    "subscribepattern": "it is for reading; to write, use topic",
}
_TABLE = OptionTable(SinkOptions, " for writing", MISPLACED)
SINK_OPTIONS = _TABLE.declared


def parse_sink_options(texts: Mapping[str, str]) -> SinkOptions:
    """InvalidOption names the option that is unknown or has an impossible value."""
    options = _TABLE.parse(texts)
    if (options.txn_app_id is None) != (options.txn_version is None):
        raise InvalidOption(
            "The options txnAppId and txnVersion are given together, or not at all."
        )
    if options.topic is not None and options.holds_decisions(options.topic):
        raise InvalidOption(f"Option topic={options.topic}: {DECISIONS_ONLY}")
    if options.txn_app_id is not None and not options.is_exactly_once:
        raise InvalidOption(
            f"The options txnAppId and txnVersion need delivery={EXACTLY_ONCE}: without "
            f"transactions nothing is known of what was written before, and nothing is skipped."
        )
    return options
