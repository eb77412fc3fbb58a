"""The whole story in short, with its real parts: Spark, two kills, the checker. Then damage."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from demo.checker import COLUMNS
from demo.directory import DemoDirectory
from demo.lake import listed_files
from demo.recording import load
from demo.requirements import find_missing
from demo.scenario import Scenario

from ottla.testing.cluster import RunningCluster

ROOT = Path(__file__).parents[3]
SCENARIO = Scenario(rate=1000, seconds=8)


def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments, *SCENARIO.arguments()],
        cwd=ROOT, capture_output=True, text=True, timeout=1800, check=False,
    )  # fmt: skip


def check_again(directory: DemoDirectory) -> subprocess.CompletedProcess[str]:
    with RunningCluster(data=directory.broker) as cluster:
        servers = cluster.bootstrap_servers
        return run("demo.checker", "--bootstrap", servers, "--lake", str(directory.lake))


@pytest.mark.ci
@pytest.mark.slow
@pytest.mark.usefixtures("spark_jvm")
def test_nothing_is_lost_or_doubled_by_two_kills_and_damage_is_noticed(tmp_path: Path) -> None:
    missing = find_missing()  # it starts Java: not where tests are only collected
    if missing is not None:
        pytest.skip(missing)
    directory = DemoDirectory(tmp_path / "demo")
    done = run("demo", "--directory", str(directory.root))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "Everything matches: lost 0, duplicated 0." in done.stdout

    recording = load(directory.recording)
    assert [kill.what for kill in recording.kills] == ["driver", "leader"]
    assert {len(in_sync) for in_sync in recording.replicas[-1].in_sync.values()} == {3}
    assert len({tuple(sample.leaders.values()) for sample in recording.replicas}) > 1
    assert [comparison.found for comparison in recording.comparisons][:3] == [8_200, 8_200, 200]
    assert recording.comparisons[3].found > 0
    assert "<svg" in directory.page.read_text()
    assert all(name in done.stdout for name in COLUMNS)

    victim = max(listed_files(directory.lake), key=lambda path: path.stat().st_size)
    victim.unlink()
    damaged = check_again(directory)
    assert damaged.returncode == 1
    assert f"missing file: {victim.name}" in damaged.stdout
    assert "lost: truck-" in damaged.stdout
