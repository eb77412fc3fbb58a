"""The generator as the process it is, with a broker that dies under it."""

from __future__ import annotations

from pathlib import Path

from demo.comparison import compare_reports
from demo.directory import DemoDirectory
from demo.expected import expected_reports
from demo.processes import Child
from demo.scenario import REPORTS_TOPIC, Scenario
from demo.topics import create_topics, read_reports
from demo.watch import read_progress
from tests.support.waiting import wait_until

from ottla.testing.broker import RunningBroker
from ottla.testing.ports import non_ephemeral_port

SCENARIO = Scenario(trucks=20, rate=4000, seconds=2)


def test_every_report_arrives_once_though_the_broker_is_killed(tmp_path: Path) -> None:
    directory = DemoDirectory(tmp_path / "demo")
    directory.prepare()
    with RunningBroker(port=non_ephemeral_port()) as broker:
        create_topics(broker.bootstrap_servers)
        arguments = ["--bootstrap", broker.bootstrap_servers, "--progress", str(directory.progress)]
        generator = Child(
            "demo.generator", [*arguments, *SCENARIO.arguments()], directory.logs / "generator.log"
        )
        try:
            wait_until(lambda: read_progress(directory.progress).acknowledged > 500, "it sends")
            broker.kill()
            generator.signal()
            generator.signal()
            broker.start()
            wait_until(lambda: generator.poll() is not None, "it is done")
        finally:
            generator.kill()
        assert generator.poll() == 0, generator.last_words()
        found = list(read_reports(broker.bootstrap_servers, REPORTS_TOPIC))
    directory.release()
    by_truck = expected_reports(SCENARIO)
    expected = {report[:2]: report for its in by_truck.values() for report in its}
    assert compare_reports("topic", expected, found).is_matching
    for truck, its in by_truck.items():
        assert [report for report in found if report.truck == truck] == its
