"""The whole story in short, with its real parts: Spark, two kills, the checker. Then damage."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest
from demo.checker import COLUMNS
from demo.lake import listed_files
from demo.place import Place
from demo.recording import load
from demo.requirements import find_missing
from demo.scenario import Scenario

from ottla.testing.broker import RunningBroker

ROOT = Path(__file__).parents[3]
SCENARIO = Scenario(rate=1000, seconds=15)


def run(module: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", module, *arguments, *SCENARIO.arguments()],
        cwd=ROOT, capture_output=True, text=True, timeout=1800, check=False,
    )  # fmt: skip


def check_again(place: Place) -> subprocess.CompletedProcess[str]:
    with RunningBroker(data=place.broker) as broker:
        return run(
            "demo.checker", "--bootstrap", broker.bootstrap_servers, "--lake", str(place.lake)
        )


@pytest.mark.slow
@pytest.mark.usefixtures("spark_jvm")
@pytest.mark.skipif(find_missing() is not None, reason=find_missing() or "")
def test_nothing_is_lost_or_doubled_by_two_kills_and_damage_is_noticed(tmp_path: Path) -> None:
    place = Place(tmp_path / "demo")
    done = run("demo", "--directory", str(place.root))
    assert done.returncode == 0, done.stdout + done.stderr
    assert "The books balance: lost 0, duplicated 0." in done.stdout

    recording = load(place.recording)
    assert [kill.what for kill in recording.kills] == ["driver", "broker"]
    assert [account.found for account in recording.accounts][:3] == [15_200, 15_200, 200]
    assert recording.accounts[3].found > 0
    assert "<svg" in place.page.read_text()
    assert all(name in done.stdout for name in COLUMNS)

    victim = max(listed_files(place.lake), key=lambda path: path.stat().st_size)
    victim.unlink()
    damaged = check_again(place)
    assert damaged.returncode == 1
    assert f"missing file: {victim.name}" in damaged.stdout
    assert "lost: truck-" in damaged.stdout
