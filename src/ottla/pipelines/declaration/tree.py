"""The declaration: what YAML and Python both become.

Owns      every key, with its type, default and explanation. The reference page is made from it.
Promises  values are checked; what holds between several is checked by `checking.py`.
"""

# ruff: noqa: RUF009 (`key` returns a field)

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from ottla.pipelines.declaration import keys
from ottla.pipelines.declaration.keys import key
from ottla.pipelines.declaration.nodes import SourceLocation

PARQUET, DELTA, ICEBERG = "parquet", "delta", "iceberg"
REFUSE, ADD = "refuse", "add"
EARLIEST, LATEST = "earliest", "latest"
NOWHERE = SourceLocation("", 0)


@dataclass(frozen=True)
class Value:
    """How values are decoded. Without it `value` stays bytes."""

    json: str | None = key(
        "json",
        keys.text,
        "Values are JSON objects; a Spark schema such as `id bigint, at timestamp`.",
        None,
    )
    avro: str | None = key("avro", keys.text, "Values are Avro; the writer's schema as JSON.", None)

    @property
    def format(self) -> str:
        return "json" if self.json is not None else "avro"

    @property
    def schema(self) -> str:
        return self.json or self.avro or ""


@dataclass(frozen=True)
class Source:
    """`from`: what is read. Reads are always read_committed."""

    topics: tuple[str, ...] = key("topics", keys.topics, "The topics; a list, or one name.")
    cluster: str | None = key(
        "cluster", keys.name, "The name of a cluster. Default: the only one.", None
    )
    start: str = key(
        "start",
        keys.text,
        "Where the first run begins: earliest, latest, or a time such as 2026-03-01T00:00:00Z.",
        EARLIEST,
    )
    value: Value | None = key("value", Value, "How values are decoded.", None)
    group: str | None = key(
        "group", keys.name, "The group that shows the progress. Default: the pipeline's name.", None
    )


@dataclass(frozen=True)
class Lake:
    """`to` with the key `lake`: a table of files."""

    lake: str = key("lake", keys.text, "The directory of the table.")
    format: str = key(
        "format", keys.one_of(PARQUET, DELTA, ICEBERG), "The format of the table.", PARQUET
    )
    hourly: str | None = key(
        "hourly",
        keys.text,
        "The column with the event time, which divides the table into hours. Default: the "
        "timestamp of the records.",
        None,
    )
    file_mb: int = key(
        "file_mb", keys.whole(1, 4096), "A task begins a new file above this size, in MiB.", 128
    )
    evolve: str = key(
        "evolve",
        keys.one_of(REFUSE, ADD),
        "Columns that the declaration has and the table has not: refuse stops, add adds them.",
        REFUSE,
    )
    keep: tuple[str, ...] = key(
        "keep",
        keys.several_of("key", "value", "headers"),
        "Bytes of the record that become columns: a list of key, value and headers, for the "
        "columns record_key, record_value and record_headers.",
        (),
    )
    catalog: Mapping[str, str] = key(
        "catalog",
        keys.settings,
        "Iceberg: properties of the catalog for pyiceberg. Default: SQLite in the directory.",
        None,
    )
    table: str | None = key(
        "table", keys.text, "Iceberg: namespace and name. Default: lake.<pipeline>.", None
    )


@dataclass(frozen=True)
class ToTopic:
    """`to` with the key `topic`: another topic."""

    topic: str = key("topic", keys.topic, "The topic that is written, exactly once.")
    cluster: str | None = key(
        "cluster", keys.name, "The name of a cluster. Default: that of `from`.", None
    )


@dataclass(frozen=True)
class Bad:
    """Records that cannot be decoded. Without this section one of them stops the pipeline."""

    topic: str = key("topic", keys.topic, "The topic for bad records, with the reason.")
    stop_above: float = key(
        "stop_above",
        keys.share,
        "The pipeline stops, and commits nothing, if a larger share of a batch is bad.",
        1.0,
        "100%",
    )


@dataclass(frozen=True)
class Late:
    """Records whose event time is far behind the newest one of earlier batches."""

    after_ms: int = key("after", keys.duration, "How far behind, such as 2h.")
    topic: str = key("topic", keys.topic, "The topic for late records.")


@dataclass(frozen=True)
class Watermark:
    """For windows: `sql` or `python` is applied to the stream, and keeps state between batches."""

    column: str = key("column", keys.text, "The column with the event time, such as value.at.")
    delay_ms: int = key("delay", keys.duration, "How long a window waits for late records.")


@dataclass(frozen=True)
class Table:
    """The latest value of each key of a compacted topic, as a view for `sql`."""

    topic: str = key("topic", keys.topic, "The compacted topic.")
    cluster: str | None = key("cluster", keys.name, "Default: that of `from`.", None)
    value: Value | None = key("value", Value, "How values are decoded.", None)


@dataclass(frozen=True)
class Pipeline:
    source: Source = key("from", Source, "What is read.")
    to: Lake | ToTopic = key("to", object, "What is written: a lake or a topic.")
    sql: str | None = key(
        "sql",
        keys.text,
        "A query over the view `input`, which has the columns of the source; `value` is a struct.",
        None,
    )
    python: str | None = key(
        "python", keys.text, "A function of a DataFrame, as module:function, instead of sql.", None
    )
    tables: Mapping[str, Table] = key("tables", object, "Views of compacted topics.", None)
    watermark: Watermark | None = key("watermark", Watermark, "For windows.", None)
    bad: Bad | None = key("bad", Bad, "Where bad records go.", None)
    late: Late | None = key("late", Late, "Where late records go.", None)
    every_ms: int = key("every", keys.duration, "The time between two batches.", 30_000, "30s")
    batch_records: int = key(
        "batch_records",
        keys.whole(1, 1_000_000_000),
        "Records of the first batch; later the limit adapts, so that a batch takes about `every`.",
        1_000_000,
    )
    failures_max: int = key(
        "failures_max",
        keys.whole(0, 1000),
        "The pipeline ends after this many failures without a batch in between.",
        5,
    )
    name: str = ""
    location: SourceLocation = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class ClusterAddress:
    servers: str = key("servers", keys.text, "Bootstrap servers, separated by commas.")
    settings: Mapping[str, str] = key(
        "settings", keys.settings, "Settings of Kafka's clients, such as security.protocol.", None
    )
    location: SourceLocation = field(default=NOWHERE, compare=False)


@dataclass(frozen=True)
class Declaration:
    clusters: Mapping[str, ClusterAddress] = key(
        "clusters", object, "Names of clusters, each with servers, or with the section below."
    )
    pipelines: Mapping[str, Pipeline] = key("pipelines", object, "Pipelines by their names.")
    state: str = key(
        "state", keys.text, "A directory for checkpoints. It must survive restarts.", "./state"
    )
    spark: Mapping[str, str] = key(
        "spark",
        keys.settings,
        "Spark's settings without the prefix spark., such as master or sql.shuffle.partitions.",
        None,
    )
    file: str = ""

    def cluster_of(self, name: str | None) -> ClusterAddress:
        """The named one, or the only one; `checking.py` has made sure that there is one."""
        return self.clusters[name] if name is not None else next(iter(self.clusters.values()))
