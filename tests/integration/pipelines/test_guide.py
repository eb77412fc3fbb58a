"""The commands of the guide, as a reader types them."""

from __future__ import annotations

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import pytest
from tests.support.kafka_jars import ROOT

from ottla.testing.broker import RunningBroker

pytestmark = [pytest.mark.ci, pytest.mark.slow]

GUIDE = ROOT / "docs" / "guides" / "pipelines.md"
PATIENCE_S = 600.0


def commands() -> list[list[str]]:
    blocks = re.findall(r"^```console\n(.*?)^```", GUIDE.read_text(), re.DOTALL | re.MULTILINE)
    lines = [line for block in blocks for line in block.splitlines() if line.startswith("$ ")]
    return [shlex.split(line.removeprefix("$ ")) for line in lines]


def test_every_command_of_the_guide_works(spark_jvm: None, tmp_path: Path) -> None:
    """Only the address of the broker is another one."""
    printed: dict[str, str] = {}
    with RunningBroker() as broker:
        servers = broker.bootstrap_servers
        for words in commands():
            done = subprocess.run(
                [sys.executable, "-m", "ottla.cli.main", *words[1:]],
                cwd=tmp_path,
                env={**os.environ, "OTTLA_BOOTSTRAP": servers},
                capture_output=True,
                text=True,
                timeout=PATIENCE_S,
                check=False,
            )
            assert done.returncode == 0, f"{words}: {done.stdout}{done.stderr}"
            name = " ".join(words[1:4])
            printed[name] = printed.get(name, "") + done.stdout
    assert "not an order" in printed["consume orders.bad --exit"]
    backfilled = printed["pipeline backfill orders.yaml"].splitlines()
    assert ["rows", "that", "were", "added", "0"] in [line.split() for line in backfilled]
    rows = [
        line.split() for line in printed["pipeline run --once"].splitlines()[1:] if line.strip()
    ]
    assert [row[2:6] for row in rows if row[0] == "orders_lake"] == [["3", "2", "0", "1"]]
    assert [row[2:6] for row in rows if row[0] == "big_orders"] == [["3", "1", "1", "1"]]
