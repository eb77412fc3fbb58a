"""The checker itself: it must see what it is there to see."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable

import pytest
from confluent_kafka import Producer
from tests.integration.spark.sink.crashes import CHECKER, ROOT
from tests.integration.spark.sink.scenario import ROWS_PER_FILE, Row, rows_of

SEED, FILES = 11, 2


def check(servers: str, topic: str, *more: str) -> tuple[int, str]:
    words = ["--bootstrap", servers, "--topic", topic, "--seed", str(SEED), "--files", str(FILES)]
    done = subprocess.run(
        [sys.executable, "-m", CHECKER, *words, *more], cwd=ROOT, capture_output=True, text=True
    )
    return done.returncode, done.stdout


def produce(servers: str, topic: str, rows: list[Row], *, transaction: str | None = None) -> None:
    """Left open, if it is in a transaction."""
    options = {"transactional.id": transaction} if transaction else {}
    producer = Producer({"bootstrap.servers": servers, "linger.ms": 50, **options})
    if transaction:
        producer.init_transactions()
        producer.begin_transaction()
    for row in rows:
        producer.produce(topic, f"{row.key} {row.sequence} {row.payload}", row.key)
    producer.flush()


ALL = list(rows_of(SEED, FILES))
BATCH = slice(ROWS_PER_FILE // 2, ROWS_PER_FILE // 2 + 100)


@pytest.fixture
def topic(new_topic: Callable[..., str]) -> str:
    return new_topic(3)


@pytest.fixture(params=["ottla"])
def servers(ottla: object) -> str:
    return str(getattr(ottla, "bootstrap_servers"))  # noqa: B009


def test_it_is_content_with_what_the_seed_says(servers: str, topic: str) -> None:
    produce(servers, topic, ALL)
    code, reported = check(servers, topic)
    assert code == 0, reported
    assert f"expected {len(ALL)}, found {len(ALL)}, lost 0, duplicated 0" in reported


def test_it_finds_a_batch_that_is_missing(servers: str, topic: str) -> None:
    produce(servers, topic, ALL[: BATCH.start] + ALL[BATCH.stop :])
    code, reported = check(servers, topic)
    assert code == 1
    assert "lost 100, duplicated 0" in reported
    lost = ALL[BATCH][0]
    assert f"lost: {min(row.key for row in ALL[BATCH])} sequences" in reported, lost


def test_it_finds_a_batch_that_was_written_twice(servers: str, topic: str) -> None:
    produce(servers, topic, ALL + ALL[BATCH])
    code, reported = check(servers, topic)
    assert code == 1
    assert "lost 0, duplicated 100" in reported


def test_it_finds_a_loss_that_a_double_makes_up_for(servers: str, topic: str) -> None:
    produce(servers, topic, [*ALL[1:], ALL[5]])
    code, reported = check(servers, topic)
    assert code == 1
    assert f"found {len(ALL)}, lost 1, duplicated 1" in reported


def test_it_finds_a_row_that_was_changed(servers: str, topic: str) -> None:
    produce(servers, topic, [ALL[0]._replace(payload="other"), *ALL[1:]])
    code, reported = check(servers, topic)
    assert code == 1
    assert "changed 1" in reported


def test_it_finds_a_transaction_that_was_left_open(servers: str, topic: str) -> None:
    produce(servers, topic, ALL)
    produce(servers, topic, ALL[:5], transaction=f"open-{topic}")
    code, reported = check(servers, topic)
    assert code == 1
    assert f"{topic}-" in reported
    assert "is stable up to" in reported


def test_it_says_when_it_could_not_look(topic: str) -> None:
    code, _ = check("127.0.0.1:1", topic, "--patience", "1")
    assert code == 2
