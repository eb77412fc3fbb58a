"""Every program in `examples/spark/` and in the guide of Spark runs, and says what it should."""

from __future__ import annotations

import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.integration.examples.test_examples import EXAMPLES, PATIENCE_S, environment, run
from tests.integration.examples.test_guides import SPARK_GUIDE, check_guide
from tests.integration.spark.queries import insist
from tests.support.postgresql import find_postgresql, running_postgresql
from tests.support.spark_jvm import SharedJvm, shared_jvm

from ottla.testing.broker import RunningBroker

pytestmark = [pytest.mark.ci, pytest.mark.xdist_group("spark-examples")]


RunExample = Callable[..., list[str]]


@pytest.fixture(scope="module")
def jvm(spark_jvm: None) -> Iterator[SharedJvm]:
    with shared_jvm() as shared:
        yield shared


@pytest.fixture
def run_example(jvm: SharedJvm) -> RunExample:
    def run_example(name: str, *more: str) -> list[str]:
        with RunningBroker(config={"num.partitions": "3"}) as broker:
            program = str(EXAMPLES / "spark" / name)
            words = [sys.executable, program, broker.bootstrap_servers, *more]
            jvm.clear()
            return run(words, broker, jvm.variables).splitlines()

    return run_example


def test_rows_are_written_and_read(run_example: RunExample) -> None:
    assert insist(lambda: run_example("batch.py")) == ["coffee: 1 cups", "tea: 7 cups"]


def test_a_stream_is_counted_and_its_progress_seen(run_example: RunExample) -> None:
    assert insist(lambda: run_example("streaming.py")) == [
        "coffee: 25 orders",
        "tea: 75 orders",
        "the group cups-counter is at 100",
    ]


def test_a_topic_is_copied_exactly_once(
    run_example: RunExample, tmp_path_factory: pytest.TempPathFactory
) -> None:
    reported = insist(
        lambda: run_example("exactly_once_copy.py", str(tmp_path_factory.mktemp("copy")))
    )
    assert reported == ["1000 records, 1000 different, the last one: ORDER 999"]


def test_a_stream_goes_into_postgresql(run_example: RunExample) -> None:
    programs = find_postgresql()
    if programs is None:
        pytest.skip("needs PostgreSQL: initdb and pg_ctl")

    def run_with_database() -> list[str]:
        with running_postgresql(programs) as database:
            return run_example("into_postgresql.py", database)

    assert insist(run_with_database) == ["1000 rows, 1000 different"]


def test_declarative_pipelines_of_spark_read_and_write_topics(tmp_path: Path) -> None:
    """They start a Spark Connect server of their own."""
    project = tmp_path / "declarative"
    shutil.copytree(EXAMPLES / "spark" / "declarative", project)
    spec = project / "spark-pipeline.yml"
    spec.write_text(spec.read_text().replace("file:///tmp/ottla-declarative", tmp_path.as_uri()))

    with RunningBroker() as broker:
        run(["ottla", "produce", "orders", "a cup of tea", "forty cups of coffee"], broker)
        run(["ottla", "topics", "create", "orders.large"], broker)
        subprocess.run(
            ["spark-pipelines", "run", "--spec", str(spec)],
            cwd=project,  # where Spark puts the table
            env={**environment(broker), "PYSPARK_PYTHON": sys.executable},
            capture_output=True, timeout=PATIENCE_S, check=True,
        )  # fmt: skip
        reported = run(["ottla", "consume", "orders.large", "--exit"], broker)
    assert reported == "forty cups of coffee\n"


def test_the_guide_of_spark_shows_what_happens(
    jvm: SharedJvm, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its programs run in this process, with the same JVM."""
    from pyspark import SparkContext
    from pyspark.sql import SparkSession

    jvm.clear()
    for name, value in jvm.variables.items():
        monkeypatch.setenv(name, value)
    # A gateway of other tests of this process stays theirs.
    monkeypatch.setattr(SparkContext, "_gateway", None)
    monkeypatch.setattr(SparkContext, "_jvm", None)
    try:
        check_guide(SPARK_GUIDE)
    finally:
        session = SparkSession.getActiveSession()
        if session is not None:
            session.stop()
