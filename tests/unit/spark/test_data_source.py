"""What Spark calls to make readers: errors are raised where Spark shows their message."""

from __future__ import annotations

import inspect

import pytest
from pyspark.sql.streaming.datasource import ReadAllAvailable, SupportsTriggerAvailableNow

from ottla.config.options import InvalidOption
from ottla.spark.data_source import batch_reader, schema_of, stream_reader
from ottla.spark.records.schema import full_schema

OPTIONS = {"kafka.bootstrap.servers": "localhost:1", "subscribe": "t"}
SCHEMA = full_schema(with_headers=False)


def test_wrong_options_of_a_stream_are_raised_by_the_first_call() -> None:
    """Spark 4.3 hides what `streamReader` itself raises."""
    reader = stream_reader({**OPTIONS, "endingOffsets": "latest"}, SCHEMA)
    assert isinstance(reader, SupportsTriggerAvailableNow)
    assert inspect.signature(reader.latestOffset).parameters, "or Spark takes it for an old reader"
    calls = (
        reader.initialOffset,
        reader.getDefaultReadLimit,
        reader.prepareForTriggerAvailableNow,
        lambda: reader.latestOffset({}, ReadAllAvailable()),
        lambda: reader.partitions({}, {}),
        lambda: reader.read(None),
    )
    for call in calls:
        with pytest.raises(InvalidOption, match="endingOffsets: a stream has no end"):
            call()
    reader.stop()


def test_wrong_options_of_a_batch_are_raised_at_once() -> None:
    with pytest.raises(InvalidOption, match="startingOffsets"):
        batch_reader({**OPTIONS, "startingOffsets": "latest"}, SCHEMA)


@pytest.mark.parametrize(
    ("text", "reported"),
    [
        ("id int, name string, id long", "value has the field id twice"),
        ("order struct<a:int,a:int>", "value.order has the field a twice"),
        ("id interval", "at character 4, 'interval'"),
        ("id int NOT NULL", "value.id is NOT NULL"),
        ('{"id":"bigint"}', "'fields' is missing"),
    ],
)
def test_a_schema_that_values_cannot_have_is_refused_by_load(text: str, reported: str) -> None:
    with pytest.raises(InvalidOption, match=f"Option valueSchema.*{reported}"):
        schema_of({**OPTIONS, "valueFormat": "json", "valueSchema": text})
