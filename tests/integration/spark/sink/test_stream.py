"""`writeStream.format("ottla")`: batches that run again, checkpoints that go back or vanish."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from tests.integration.examples.test_guides import ADDRESS, ENDLESS_EXAMPLES, ROOT, blocks_of
from tests.integration.spark.queries import insist, run_query
from tests.integration.spark.sink.committed_records import committed_values

pytestmark = pytest.mark.xdist_group("spark")


class Query:
    """A stream that writes every file of a directory, one batch each."""

    def __init__(self, spark: Any, servers: str, topic: str, directory: Path) -> None:
        self.spark, self.servers, self.topic = spark, servers, topic
        self.input, self.checkpoint = directory / "input", directory / "checkpoint"
        self.input.mkdir()
        self.files = 0

    def add(self, *values: str) -> None:
        (self.input / f"{self.files}.txt").write_text("\n".join(values))
        self.files += 1

    def run(self, **options: Any) -> None:
        rows = self.spark.readStream.option("maxFilesPerTrigger", 1).text(str(self.input))
        writer = (
            rows.repartition(2).writeStream.format("ottla")
            .option("kafka.bootstrap.servers", self.servers).option("topic", self.topic)
            .option("checkpointLocation", str(self.checkpoint)).options(**options)
        )  # fmt: skip
        run_query(writer.trigger(availableNow=True).start)

    def run_for_each_batch(self, *names: str) -> None:
        """Every batch is written once under each name, as `txnAppId`."""

        def write(rows: Any, batch: int) -> None:
            for name in names:
                (
                    rows.write.format("ottla").mode("append")
                    .option("kafka.bootstrap.servers", self.servers).option("topic", self.topic)
                    .option("txnAppId", name).option("txnVersion", batch).save()
                )  # fmt: skip

        rows = self.spark.readStream.option("maxFilesPerTrigger", 1).text(str(self.input))
        stream = rows.writeStream.foreachBatch(write).option("checkpointLocation", self.checkpoint)
        run_query(stream.trigger(availableNow=True).start)

    def forget_last_commit(self) -> None:
        """As a driver leaves it that dies between the sink's commit and Spark's own."""
        commits = self.checkpoint / "commits"
        last = max(int(each.name) for each in commits.glob("[0-9]*"))
        (commits / str(last)).unlink()
        (commits / f".{last}.crc").unlink(missing_ok=True)

    def committed(self) -> list[str]:
        return committed_values(self.servers, self.topic)


@pytest.fixture
def query(spark: Any, servers: str, new_topic: Callable[..., str], tmp_path: Path) -> Query:
    return Query(spark, servers, new_topic(2), tmp_path)


def failure_of(action: Callable[[], None]) -> str:
    with pytest.raises(Exception) as caught:
        action()
    return str(caught.value)


def test_a_batch_that_spark_runs_again_is_not_written_again(query: Query) -> None:
    query.add("a", "b")
    query.add("c")
    query.run()
    query.forget_last_commit()
    query.add("d")
    query.run()
    assert query.committed() == ["a", "b", "c", "d"]


def test_at_least_once_writes_it_again(query: Query) -> None:
    query.add("a", "b")
    query.run(delivery="at-least-once")
    query.forget_last_commit()
    query.run(delivery="at-least-once")
    assert query.committed() == ["a", "a", "b", "b"]


def test_a_checkpoint_that_went_back_is_refused(query: Query) -> None:
    query.add("a")
    query.run()
    shutil.copytree(query.checkpoint, old := query.checkpoint.with_name("old"))
    for value in ("b", "c"):
        query.add(value)
        query.run()
    shutil.rmtree(query.checkpoint)
    old.rename(query.checkpoint)
    assert "its checkpoint is an older one" in failure_of(query.run)
    assert query.committed() == ["a", "b", "c"]


def test_a_checkpoint_that_went_back_by_one_batch_is_refused(query: Query) -> None:
    """Its number is that of the last decision; its rows may be others."""
    query.add("a")
    query.run()
    shutil.copytree(query.checkpoint, old := query.checkpoint.with_name("old"))
    query.add("b")
    query.run()
    query.checkpoint = old
    query.add("c")
    assert "Spark has planned it again since" in failure_of(query.run)
    assert query.committed() == ["a", "b"]


def test_a_new_checkpoint_is_a_new_query_even_under_the_same_sink_name(query: Query) -> None:
    query.add("a")
    query.run(sinkName=f"named-{query.topic}")
    shutil.rmtree(query.checkpoint)
    query.run(sinkName=f"named-{query.topic}")
    assert query.committed() == ["a", "a"]


def test_a_renamed_sink_gets_its_old_name_in_the_error(query: Query) -> None:
    query.add("a")
    query.run(sinkName=f"first-{query.topic}")
    query.add("b")
    reported = failure_of(lambda: query.run(sinkName=f"second-{query.topic}"))
    assert f"Set the option sinkName=first-{query.topic}" in reported
    query.run(sinkName=f"first-{query.topic}")
    assert query.committed() == ["a", "b"]


def test_for_each_batch_with_a_version_writes_once(query: Query) -> None:
    query.add("a")
    query.run_for_each_batch(f"app-{query.topic}")
    query.forget_last_commit()
    query.add("b")
    query.run_for_each_batch(f"app-{query.topic}")
    assert query.committed() == ["a", "b"]


def test_a_second_write_of_a_batch_is_not_taken_for_a_repeated_one(query: Query) -> None:
    """Also not by the next run, which skips the first write: the rows would be lost."""
    first, second = f"first-{query.topic}", f"second-{query.topic}"
    query.add("a")
    for _ in range(2):
        reported = failure_of(lambda: query.run_for_each_batch(first, first))
        assert "keep the txnAppId of the first write" in reported
    assert query.committed() == ["a"]
    query.run_for_each_batch(first, second)
    assert query.committed() == ["a", "a"]


def test_a_new_checkpoint_does_not_skip_batches_under_the_old_name(query: Query) -> None:
    query.add("a")
    query.run_for_each_batch(f"app-{query.topic}")
    shutil.rmtree(query.checkpoint)
    assert "give a new txnAppId" in failure_of(
        lambda: query.run_for_each_batch(f"app-{query.topic}")
    )
    assert query.committed() == ["a"]


def test_the_copy_of_the_readme_needs_no_topic_with_as_many_partitions(
    query: Query, new_topic: Callable[..., str]
) -> None:
    query.add("a", "b", "c", "d")
    query.run()  # into two partitions
    copies = new_topic(1)
    [program] = [
        block.content
        for block in blocks_of(ROOT / "README.md")
        if block.kind == "python" and ENDLESS_EXAMPLES[0] in block.content
    ]
    for shown, used in {
        ADDRESS: query.servers,
        '"orders"': f'"{query.topic}"',
        '"copies"': f'"{copies}"',
        "/checkpoints": str(query.checkpoint),
    }.items():
        assert shown in program
        program = program.replace(shown, used)
    names: dict[str, Any] = {"spark": query.spark}

    def copy() -> None:
        exec(program, names)
        try:
            names["query"].processAllAvailable()
        finally:
            names["query"].stop()

    insist(copy)
    assert committed_values(query.servers, copies) == ["a", "b", "c", "d"]


def test_complete_mode_writes_all_rows_of_every_batch(query: Query) -> None:
    query.add("a")
    query.add("a")
    rows = query.spark.readStream.option("maxFilesPerTrigger", 1).text(str(query.input))
    counts = rows.groupBy("value").count().selectExpr("concat(value, count) as value")
    stream = (
        counts.writeStream.format("ottla").outputMode("complete")
        .option("kafka.bootstrap.servers", query.servers).option("topic", query.topic)
        .option("checkpointLocation", str(query.checkpoint)).trigger(availableNow=True)
    )  # fmt: skip
    run_query(stream.start)
    assert query.committed() == ["a1", "a2"]


def test_spark_refuses_the_output_mode_update(query: Query) -> None:
    """The guide says so, and shows foreachBatch instead."""
    query.add("a")
    counts = query.spark.readStream.text(str(query.input)).groupBy("value").count()
    writer = (
        counts.selectExpr("value").writeStream.format("ottla").outputMode("update")
        .option("kafka.bootstrap.servers", query.servers).option("topic", query.topic)
        .option("checkpointLocation", str(query.checkpoint)).trigger(availableNow=True)
    )  # fmt: skip
    assert "ottla does not support Update mode" in failure_of(lambda: run_query(writer.start))
