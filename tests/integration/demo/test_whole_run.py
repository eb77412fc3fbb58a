"""The whole story in short, with its real parts: Spark, two kills, checker and audit. Then damage
of every kind, and its repair."""

from __future__ import annotations

import io
import subprocess
import sys
from pathlib import Path

import pytest
from demo.checker import COLUMNS
from demo.directory import DemoDirectory
from demo.places import Difference
from demo.recording import Recording, load
from demo.repair import last_run, repair_lake
from demo.requirements import find_missing
from demo.sabotage import KINDS, sabotage
from demo.scenario import Scenario
from demo.terminal import Terminal
from demo.verification import LAKE, Outcome, verify

ROOT = Path(__file__).parents[3]
SCENARIO = Scenario(rate=1000, seconds=8)


def run(*arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "demo", *arguments],
        cwd=ROOT, capture_output=True, text=True, timeout=1800, check=False,
    )  # fmt: skip


@pytest.mark.ci
@pytest.mark.slow
@pytest.mark.usefixtures("spark_jvm")
def test_nothing_is_lost_or_doubled_by_two_kills_and_damage_is_named_and_repaired(
    tmp_path: Path,
) -> None:
    missing = find_missing()  # it starts Java: not where tests are only collected
    if missing is not None:
        pytest.skip(missing)
    directory = DemoDirectory(tmp_path / "demo")
    place = ["--directory", str(directory.root)]
    done = run(*place, *SCENARIO.arguments(), "--sabotage", "lake")
    assert done.returncode == Outcome.DIFFERS, done.stdout + done.stderr
    assert "checker and audit agree" in done.stdout
    assert "THERE ARE DIFFERENCES" in done.stdout
    assert all(name in done.stdout for name in COLUMNS)
    check_story(load(directory.recording))
    assert "<svg" in directory.page.read_text()
    assert "fleet.reports" in directory.audit_page.read_text()

    repaired = run(*place, "--repair")
    assert repaired.returncode == Outcome.MATCHES, repaired.stdout + repaired.stderr
    assert "$ ottla pipeline backfill" in repaired.stdout
    assert "Everything matches: lost 0, duplicated 0." in repaired.stdout
    check_damage(directory)


def check_story(recording: Recording) -> None:
    assert [kill.what for kill in recording.kills] == ["driver", "leader"]
    assert {len(in_sync) for in_sync in recording.replicas[-1].in_sync.values()} == {3}
    assert len({tuple(sample.leaders.values()) for sample in recording.replicas}) > 1
    topic, lake, latest, alerts = recording.comparisons
    assert (topic.found, latest.found) == (8_200, 200)
    assert alerts.found > 0
    assert all(each.is_matching for each in (topic, latest, alerts))
    assert lake.lost == 8_200 - lake.found > 0


def check_damage(directory: DemoDirectory) -> None:
    """Each kind is named by both, with the same offsets, and repaired."""
    terminal = Terminal(io.StringIO())
    with last_run(directory) as (recording, servers):
        for kind in KINDS:
            sabotage(kind, directory.lake)
            assert verify(recording, directory, servers, terminal) is Outcome.DIFFERS, kind
            check_named(kind, recording)
            assert repair_lake(directory, servers, terminal) is not None
            assert verify(recording, directory, servers, terminal) is Outcome.MATCHES, kind


def check_named(kind: str, recording: Recording) -> None:
    lake, audit = recording.comparisons[LAKE], recording.audit
    assert audit is not None
    assert lake.differences, "the checker names buckets, partitions and offsets"
    for each in lake.differences:
        assert has_kind(kind, each)
        assert f"partition {each.partition}, bucket {each.bucket}" in audit.details


def has_kind(kind: str, found: Difference) -> bool:
    is_lost, is_doubled = bool(found.lost), bool(found.duplicated)
    return {
        "lake": (True, False), "twice": (False, True), "lost-and-doubled": (True, True)
    }[kind] == (is_lost, is_doubled)  # fmt: skip
