"""The tour that `make demo` takes, in short."""

import subprocess
import sys
from pathlib import Path

DEMO = Path(__file__).parents[2] / "examples" / "demo.py"


def test_the_demo_loses_nothing_when_its_broker_is_killed() -> None:
    done = subprocess.run(
        [sys.executable, str(DEMO), "40"], capture_output=True, text=True, timeout=120
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "lost                                 0" in done.stdout
