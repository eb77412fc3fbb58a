"""What must hold between the keys of a pipeline, and between pipelines.

Promises  every problem has the line of the pipeline it belongs to. Nothing is opened: what needs a
          cluster or a table is checked by `verbs/validate.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from datetime import datetime
from pathlib import Path

from ottla.config.options import InvalidOption
from ottla.pipelines.declaration.locations import absolute
from ottla.pipelines.declaration.nodes import Problem, did_you_mean
from ottla.pipelines.declaration.tree import (
    EARLIEST,
    ICEBERG,
    LATEST,
    Declaration,
    Lake,
    Pipeline,
    ToTopic,
    Value,
)

SOURCE_COLUMN_NAMES = ("topic", "topic_id", "partition", "offset", "timestamp")
HOUR = "hour"  # divides tables of Parquet files and of Delta
_FUNCTION = re.compile(r"[\w.]+:\w+")
_OBJECT_STORE = re.compile(r"^(?!file:)[A-Za-z][A-Za-z0-9+.-]*:/")


def find_problems(declared: Declaration) -> list[Problem]:
    found = list(_addresses(declared))
    for each in declared.pipelines.values():
        found += [
            Problem(each.location, f"{each.name}: {message}") for message in _of_one(declared, each)
        ]
    return found + list(_shared_outputs(declared))


def _addresses(declared: Declaration) -> Iterator[Problem]:
    from ottla.pipelines.running.cluster_options import client_settings

    for name, each in declared.clusters.items():
        try:
            client_settings(each)
        except InvalidOption as error:
            yield Problem(each.location, f"{name}: {error}")


def _of_one(declared: Declaration, pipeline: Pipeline) -> Iterator[str]:
    yield from _clusters(declared, pipeline)
    yield from _start(pipeline)
    yield from _transform(pipeline)
    yield from _outputs(declared, pipeline)
    for value in (pipeline.source.value, *(t.value for t in (pipeline.tables or {}).values())):
        yield from _value(value)
    if isinstance(pipeline.to, Lake):
        yield from _lake(pipeline, pipeline.to)
    else:
        yield from _feed(pipeline)


def _clusters(declared: Declaration, pipeline: Pipeline) -> Iterator[str]:
    tables = (pipeline.tables or {}).values()
    named = [pipeline.source.cluster, *(each.cluster for each in tables)]
    if isinstance(pipeline.to, ToTopic):
        named.append(pipeline.to.cluster)
    for name in dict.fromkeys(named):
        if name is not None and name not in declared.clusters:
            yield f"there is no cluster {name}: {did_you_mean(name, declared.clusters)}"
    if pipeline.source.cluster is None and len(declared.clusters) > 1:
        yield f"from needs the key cluster: {', '.join(declared.clusters)}"


def _start(pipeline: Pipeline) -> Iterator[str]:
    if pipeline.source.start not in (EARLIEST, LATEST) and start_ms(pipeline.source.start) is None:
        yield (
            f"start {pipeline.source.start!r} is neither earliest, latest nor a time such as "
            "2026-03-01T00:00:00Z"
        )


def start_ms(text: str) -> int | None:
    """A time with its zone; without one it would depend on the machine."""
    try:
        found = datetime.fromisoformat(text)
    except ValueError:
        return None
    return None if found.tzinfo is None else int(found.timestamp() * 1000)


def _transform(pipeline: Pipeline) -> Iterator[str]:
    if pipeline.sql is not None and pipeline.python is not None:
        yield "sql and python are two ways to say the same: give one"
    if pipeline.python is not None and not _FUNCTION.fullmatch(pipeline.python):
        yield f"python {pipeline.python!r} must be module:function"
    has_transform = pipeline.sql is not None or pipeline.python is not None
    if pipeline.tables and not has_transform:
        yield "tables are views for sql or python, and there is neither"
    if pipeline.watermark and not has_transform:
        yield "watermark is for windows in sql or python, and there is neither"


def _outputs(declared: Declaration, pipeline: Pipeline) -> Iterator[str]:
    """A pipeline must not read what it writes: it would write it again with every batch. Bad and
    late records are written to the cluster that they were read from."""
    to = pipeline.to
    written = to if isinstance(to, ToTopic) and _is_same_cluster(declared, pipeline, to) else None
    if written is not None and written.topic in pipeline.source.topics:
        yield f"{written.topic} is read and written: the pipeline would read its own records"
    for name, side in (("bad", pipeline.bad), ("late", pipeline.late)):
        if side is None:
            continue
        if side.topic in pipeline.source.topics:
            yield (
                f"{name}: {side.topic} is read and written: the pipeline would read its own "
                "records. Give another topic"
            )
        if written is not None and side.topic == written.topic:
            yield f"{name}: {side.topic} is the topic of `to` as well: give each its own"


def _is_same_cluster(declared: Declaration, pipeline: Pipeline, to: ToTopic) -> bool:
    """Without a name it is the only cluster, or for `to` that of `from`."""
    only = next(iter(declared.clusters)) if len(declared.clusters) == 1 else None
    return to.cluster is None or to.cluster == (pipeline.source.cluster or only)


def _value(value: Value | None) -> Iterator[str]:
    if value is None:
        return
    if (value.json is None) == (value.avro is None):
        yield "value needs either json or avro"
        return
    from ottla.pipelines.declaration.value_schema import value_struct

    try:
        value_struct(value)
    except InvalidOption as error:
        yield f"value: {error}"


def _lake(pipeline: Pipeline, lake: Lake) -> Iterator[str]:
    if _OBJECT_STORE.match(lake.lake):
        yield (
            f"lake {lake.lake}: object stores and other remote file systems are not supported yet: "
            "give a directory, which may be a mounted one"
        )
    if lake.format != ICEBERG and (lake.catalog or lake.table):
        yield "catalog and table are for format: iceberg"
    if pipeline.watermark is not None:
        yield "a pipeline with windows writes to a topic: a window has no offset of its own"
    if pipeline.sql is None and pipeline.python is None:
        yield from _columns(pipeline, lake)


def _columns(pipeline: Pipeline, lake: Lake) -> Iterator[str]:
    from ottla.pipelines.declaration.value_schema import value_struct

    value = pipeline.source.value
    if value is None:
        if lake.hourly is not None:
            yield "hourly names a column of the value: give from.value, or leave hourly out"
        return
    try:
        fields = {each.name: each.dataType.simpleString() for each in value_struct(value).fields}
    except InvalidOption:
        return  # reported above
    for name in (*SOURCE_COLUMN_NAMES, HOUR):
        if name in fields:
            yield f"the value has a field {name}, which is a column of every lake: rename it in sql"
    if lake.hourly is not None and lake.hourly not in fields:
        yield f"hourly: the value has no field {lake.hourly}: {did_you_mean(lake.hourly, fields)}"
    elif lake.hourly is not None and fields[lake.hourly] != "timestamp":
        yield f"hourly: {lake.hourly} is {fields[lake.hourly]}, and must be a timestamp"


def _feed(pipeline: Pipeline) -> Iterator[str]:
    if pipeline.sql is None and pipeline.python is None:
        yield "a feed needs sql or python, which give the columns key and value"
    if pipeline.late is not None:
        yield "late is for lakes; windows wait for late records with watermark"
    if pipeline.watermark is not None and pipeline.bad is not None:
        yield (
            "bad cannot be combined with watermark: declare another pipeline with bad, which "
            "writes the good records to a topic, and read that"
        )


def _shared_outputs(declared: Declaration) -> Iterator[Problem]:
    base = Path(declared.file).resolve().parent
    first: dict[str, Pipeline] = {}
    for each in declared.pipelines.values():
        if isinstance(each.to, Lake):
            directory = absolute(each.to.lake, base)
            earlier = first.setdefault(directory, each)
            if earlier is not each:
                message = (
                    f"{each.name}: {earlier.name} (line {earlier.location.line}) writes "
                    f"{directory} too: a table has one pipeline"
                )
                yield Problem(each.location, message)
