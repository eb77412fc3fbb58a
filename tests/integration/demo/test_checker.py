"""The checker as the process it is: a real broker, real files, and damage of every kind.

The story's processes are played by a few lines here, so that each of them can go wrong.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest
from confluent_kafka import Producer
from demo.expected import Alert, expected_alerts, expected_latest, expected_reports
from demo.reports import Report, encode
from demo.scenario import ALERTS_TOPIC, LATEST_TOPIC, REPORTS_TOPIC, Scenario
from demo.topics import create_topics
from tests.unit.demo.lake_files import one_partition, write_lake

from ottla.testing.broker import RunningBroker

ROOT = Path(__file__).parents[3]
SCENARIO = Scenario(trucks=30, rate=300, seconds=10)
BY_TRUCK = expected_reports(SCENARIO)
REPORTS = [report for its in BY_TRUCK.values() for report in its]
PLACES = one_partition(REPORTS)  # all events are sent to one partition
BATCHES = [REPORTS[:1000], REPORTS[1000:2000], REPORTS[2000:]]
LATEST = list(expected_latest(BY_TRUCK).values())
ALERTS = sorted(expected_alerts(SCENARIO, BY_TRUCK))


@pytest.fixture(scope="module")
def broker() -> Iterator[RunningBroker]:
    with RunningBroker() as broker:
        yield broker


@pytest.fixture
def bootstrap(broker: RunningBroker) -> str:
    """The topics of the story, empty and new."""
    from confluent_kafka.admin import AdminClient

    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    topics = [name for name in admin.list_topics().topics if name.startswith("fleet.")]
    for deleted in admin.delete_topics(topics).values() if topics else []:
        deleted.result()
    create_topics(broker.bootstrap_servers)
    return broker.bootstrap_servers


def play(
    bootstrap: str,
    reports: Iterable[Report] = REPORTS,
    latest: Iterable[Report] = LATEST,
    alerts: Iterable[Alert] = ALERTS,
) -> None:
    producer = Producer({"bootstrap.servers": bootstrap})
    for report in reports:
        producer.produce(
            REPORTS_TOPIC, encode(report), report.truck, partition=0, timestamp=report.event_time_ms
        )
    for topic, values in [
        (LATEST_TOPIC, [(each.truck, encode(each)) for each in latest]),
        (ALERTS_TOPIC, [(each.truck, alert_json(each)) for each in alerts]),
    ]:
        for key, value in values:
            producer.produce(topic, value, key)
    producer.flush()


def alert_json(alert: Alert) -> bytes:
    """As Spark's `to_json` writes it."""
    from datetime import UTC, datetime

    start, end = (
        datetime.fromtimestamp(each / 1000, UTC).strftime("%Y-%m-%dT%H:%M:%S.000Z")
        for each in (alert.window_start_ms, alert.window_end_ms)
    )
    return json.dumps(
        {
            "truck": alert.truck,
            "window_start": start,
            "window_end": end,
            "driven_minutes": alert.driven_minutes,
        }
    ).encode()


def check(bootstrap: str, lake: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "demo.checker", "--bootstrap", bootstrap, "--lake", str(lake)]
    return subprocess.run(
        [*command, *SCENARIO.arguments()],
        cwd=ROOT, capture_output=True, text=True, timeout=600, check=False,
    )  # fmt: skip


def test_matching_results(bootstrap: str, tmp_path: Path) -> None:
    play(bootstrap)
    write_lake(tmp_path, BATCHES, PLACES)
    done = check(bootstrap, tmp_path)
    assert done.returncode == 0, done.stdout + done.stderr
    assert ALERTS


def test_a_removed_file(bootstrap: str, tmp_path: Path) -> None:
    play(bootstrap)
    write_lake(tmp_path, BATCHES, PLACES)[1].unlink()
    done = check(bootstrap, tmp_path)
    assert done.returncode == 1
    assert "partition 0, bucket 2026-03-02T" in done.stdout
    assert "lost: truck-010 sequences" in done.stdout


def test_a_batch_written_twice_to_the_lake(bootstrap: str, tmp_path: Path) -> None:
    play(bootstrap)
    write_lake(tmp_path, [*BATCHES, BATCHES[0]], PLACES)
    done = check(bootstrap, tmp_path)
    assert done.returncode == 1
    assert "duplicated: truck-000 sequences 0-100" in done.stdout


def test_a_batch_written_twice_to_each_topic(bootstrap: str, tmp_path: Path) -> None:
    play(bootstrap, [*REPORTS, REPORTS[0]], [*LATEST, LATEST[3]], [*ALERTS, ALERTS[0]])
    write_lake(tmp_path, BATCHES, PLACES)
    done = check(bootstrap, tmp_path)
    assert done.returncode == 1
    assert "duplicated: truck-000 sequences 0" in done.stdout
    assert "written again: truck-003 sequences 100" in done.stdout
    assert f"duplicated: {ALERTS[0].truck} window of" in done.stdout


def test_a_changed_position(bootstrap: str, tmp_path: Path) -> None:
    changed = LATEST[5]._replace(latitude=0.5)
    play(bootstrap, latest=[*LATEST[:5], changed, *LATEST[6:]])
    write_lake(tmp_path, BATCHES, PLACES)
    done = check(bootstrap, tmp_path)
    assert done.returncode == 1
    assert f"changed: {changed}" in done.stdout


def test_positions_that_are_behind_and_an_alert_that_is_missing(
    bootstrap: str, tmp_path: Path
) -> None:
    behind = BY_TRUCK["truck-002"][50]
    play(bootstrap, latest=[*LATEST[:2], behind, *LATEST[3:]], alerts=ALERTS[1:])
    write_lake(tmp_path, BATCHES, PLACES)
    done = check(bootstrap, tmp_path)
    assert done.returncode == 1
    assert "truck-002 ends at sequence 50, its highest is 100" in done.stdout
    assert f"lost: {ALERTS[0].truck} window of" in done.stdout


def test_what_was_aborted_or_is_still_open_does_not_count(bootstrap: str, tmp_path: Path) -> None:
    play(bootstrap)
    write_lake(tmp_path, BATCHES, PLACES)
    aborted = Producer({"bootstrap.servers": bootstrap, "transactional.id": "aborted"})
    aborted.init_transactions()
    aborted.begin_transaction()
    aborted.produce(LATEST_TOPIC, encode(LATEST[0]), LATEST[0].truck)
    aborted.flush()
    aborted.abort_transaction()
    assert check(bootstrap, tmp_path).returncode == 0


def test_a_missing_topic_is_not_a_difference(tmp_path: Path) -> None:
    with RunningBroker() as broker:
        done = check(broker.bootstrap_servers, tmp_path)
    assert done.returncode == 2
    assert "the checker could not look" in done.stderr
