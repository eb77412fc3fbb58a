"""The broker of a run that plants a bug, or that kills brokers at named steps.

    CHAOS_PLANT=lso-too-eager      changes one function before the ordinary command line runs
    CHAOS_STEP=/path/of/a/file     while the file exists, the process that first reaches the
                                         step that it names is killed there

`python -m tests.chaos.planted.broker up ...` is `ottla up ...` otherwise. Nothing of this is part
of the product.
"""

from __future__ import annotations

import os
import sys
import threading
import time
from pathlib import Path

from tests.chaos.planted.plant import PLANT, STEP, apply

from ottla.base import fault_points
from ottla.cli.main import main

POLL_S = 0.05


def watch_step(path: Path) -> None:
    """Arm the fault point that the file names, for as long as it exists. The first process to reach
    it creates `<path>.reached`, and only that one is killed."""
    points = fault_points.reach.__self__  # type: ignore[attr-defined]
    points._once = f"{path}.reached"
    while True:
        try:
            name, _, times = path.read_text().partition(":")
        except FileNotFoundError:
            points._armed = None
        else:
            if name and points._armed is None:
                points._left = int(times or 1)
                points._armed = fault_points.FaultPoint(name)
        time.sleep(POLL_S)


if __name__ == "__main__":
    if name := os.environ.get(PLANT):
        apply(name)
    if path := os.environ.get(STEP):
        threading.Thread(target=watch_step, args=[Path(path)], daemon=True).start()
    sys.exit(main())
