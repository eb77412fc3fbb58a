"""The offsets of batches, from Spark's checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from tests.unit.pipelines.lake.writing import COLUMNS, opened, write

from ottla.base.ids import TopicPartition
from ottla.pipelines.declaration.loading import declare
from ottla.pipelines.errors import BatchRefused, PipelineError
from ottla.pipelines.running.checkpoint import PipelineState
from ottla.pipelines.running.query import PipelineQuery, check_kept
from ottla.spark.planning.stream_changes import batch_start

QUERY = "0b7c1d9e-51a8-4f9b-8d9f-2f1f4c6c0a11"
ORDERS_0, ORDERS_1, ORDERS_2 = (TopicPartition("orders", each) for each in range(3))
IDS = {"orders": "AAAAAAAAAAAAAAAAAAAAAQ"}


def state(tmp_path: Path, *offsets: dict[str, Any]) -> PipelineState:
    found = PipelineState(str(tmp_path), "orders_lake")
    (found.checkpoint / "offsets").mkdir(parents=True)
    (found.checkpoint / "commits").mkdir()
    (found.checkpoint / "metadata").write_text(json.dumps({"id": QUERY}))
    for number, each in enumerate(offsets):
        text = "\n".join(["v1", "{}", json.dumps(each)])
        (found.checkpoint / "offsets" / str(number)).write_text(text)
    return found


FIRST = {
    "orders": {"0": 10, "1": 7},
    "$ottla": {"topicIds": IDS, "beganAt": {"orders": {"0": 4, "1": 0}}},
}
SECOND = {"orders": {"0": 15, "1": 7, "2": 3}, "$ottla": {"topicIds": IDS}}


def test_a_batch_begins_where_the_one_before_ended(tmp_path: Path) -> None:
    found = state(tmp_path, FIRST, SECOND)
    first, second = found.range_of(0), found.range_of(1)
    topic_id = IDS["orders"]
    assert first.starts == {topic_id: {"0": 4, "1": 0}}
    assert second.starts == {topic_id: {"0": 10, "1": 7, "2": 0}}
    assert second.ends == {topic_id: {"0": 15, "1": 7, "2": 3}}
    assert (first.query, first.topics, first.batch) == (QUERY, IDS, 0)
    assert first.digest
    assert first.digest != second.digest


def test_tasks_of_the_first_batch_begin_where_its_end_says(tmp_path: Path) -> None:
    found = state(tmp_path, FIRST, SECOND)
    start, end = found.offsets_of(0)
    assert batch_start(start, end).offsets == {ORDERS_0: 4, ORDERS_1: 0}
    start, end = found.offsets_of(1)
    assert batch_start(start, end).offsets == {ORDERS_0: 10, ORDERS_1: 7, ORDERS_2: None}


def test_the_state_of_another_pipeline_is_refused(tmp_path: Path) -> None:
    PipelineState(str(tmp_path), "orders_lake").claim(("orders",))
    (tmp_path / "orders_lake").rename(tmp_path / "bills_lake")
    with pytest.raises(PipelineError, match="is the state of the pipeline orders_lake"):
        PipelineState(str(tmp_path), "bills_lake").claim(("orders",))


def test_topics_may_be_added_but_not_removed(tmp_path: Path) -> None:
    found = PipelineState(str(tmp_path), "orders_lake")
    found.claim(("orders",))
    found.claim(("orders", "bills"))
    with pytest.raises(PipelineError, match="read the topics bills before"):
        found.claim(("orders",))


def test_damage_is_named_with_its_file(tmp_path: Path) -> None:
    found = state(tmp_path, FIRST)
    (found.checkpoint / "offsets" / "0").write_text("v1\n")
    with pytest.raises(PipelineError, match=r"offsets/0 cannot be read"):
        found.range_of(0)


def test_a_query_that_failed_before_its_first_batch_has_no_offsets(tmp_path: Path) -> None:
    """It begins where the table ends, not at the declared start."""
    assert not PipelineState(str(tmp_path / "none"), "orders_lake").has_offsets
    assert not state(tmp_path / "failed").has_offsets
    assert state(tmp_path / "planned", FIRST).has_offsets


def test_a_pipeline_without_offsets_begins_where_its_table_ends(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    declared = declare(
        clusters={"main": "localhost:9092"},
        state=str(tmp_path),
        pipelines={
            "orders_lake": {"from": {"topics": ["orders"]}, "to": {"lake": str(tmp_path / "lake")}}
        },
    )
    table = opened("parquet", str(tmp_path / "lake"))
    table.prepare(COLUMNS)
    written = write(table, 0)
    found = state(tmp_path)  # with the id of the query, as Spark leaves it
    query = PipelineQuery(None, declared, declared.pipelines["orders_lake"], print)
    monkeypatch.setattr(query, "_continued", lambda last: last.ends)  # needs a cluster
    assert json.loads(query._start()["startingOffsets"]) == written.ends
    (found.checkpoint / "offsets" / "0").write_text("v1\n{}\n{}")
    assert query._start() == {"startingOffsets": "earliest"}


def test_a_damaged_description_is_named_with_what_to_do(tmp_path: Path) -> None:
    found = state(tmp_path)
    for text in ("{", "[]", "{}"):
        (found.directory / "pipeline.json").write_text(text)
        with pytest.raises(PipelineError, match=r"json is damaged: .*restore .*or delete"):
            found.claim(("orders",))


def test_a_table_that_lacks_every_batch_of_the_state_is_refused_before_it_is_created(
    tmp_path: Path,
) -> None:
    """A file system that is not mounted leaves an empty directory."""
    found = state(tmp_path, FIRST)
    table = opened("parquet", str(tmp_path / "lake"))
    check_kept(found, table, "orders_lake")
    (found.checkpoint / "commits" / "0").write_text("v1\n{}")
    with pytest.raises(BatchRefused, match="the table has no commit"):
        check_kept(found, table, "orders_lake")
    assert not (tmp_path / "lake").exists()
    table.prepare(COLUMNS)
    with pytest.raises(BatchRefused, match="the table has no commit"):
        check_kept(found, table, "orders_lake")
    write(table, 0)
    check_kept(found, table, "orders_lake")
