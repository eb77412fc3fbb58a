"""Every program in `examples/spark/` runs, and says what it should."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from tests.integration.examples.test_examples import EXAMPLES, run
from tests.support.postgresql import find_postgresql, running_postgresql

from ottla.testing.broker import RunningBroker

pytestmark = [pytest.mark.xdist_group("spark-examples"), pytest.mark.usefixtures("spark_jvm")]


def tell(name: str, *more: str) -> list[str]:
    with RunningBroker(config={"num.partitions": "3"}) as broker:
        words = [sys.executable, str(EXAMPLES / "spark" / name), broker.bootstrap_servers, *more]
        return run(words, broker).splitlines()


def test_rows_are_written_and_read() -> None:
    assert tell("batch.py") == ["coffee: 1 cups", "tea: 7 cups"]


def test_a_stream_is_counted_and_its_progress_seen() -> None:
    assert tell("streaming.py") == [
        "coffee: 25 orders",
        "tea: 75 orders",
        "the group cups-counter is at 100",
    ]


def test_a_topic_is_copied_exactly_once(tmp_path: Path) -> None:
    told = tell("exactly_once_copy.py", str(tmp_path))
    assert told == ["1000 records, 1000 different, the last one: ORDER 999"]


def test_a_stream_goes_into_postgresql() -> None:
    programs = find_postgresql()
    if programs is None:
        pytest.skip("needs PostgreSQL: initdb and pg_ctl")
    with running_postgresql(programs) as database:
        assert tell("into_postgresql.py", database) == ["1000 rows, 1000 different"]
