"""What serves requests is loaded in the background; shown in a process that has nothing yet."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import asyncio, logging, sys
from pathlib import Path
import ottla.broker.broker
import ottla.handlers
from ottla.broker.preloading import preload

logging.basicConfig(stream=sys.stdout, level="INFO", format="%(message)s")
asyncio.run(preload(asyncio.to_thread, delay_s=0, pause_s=0))
folder = Path(ottla.handlers.__file__).parent
names = (path.relative_to(folder).with_suffix("") for path in folder.rglob("*.py"))
modules = {".".join(("ottla.handlers", *name.parts)).removesuffix(".__init__") for name in names}
print("left out:", sorted(modules - sys.modules.keys()))
"""


def test_every_handler_is_loaded_some_time_after_the_start() -> None:
    done = subprocess.run(
        [sys.executable, "-c", PROGRAM], capture_output=True, text=True, check=True
    )
    assert done.stdout.splitlines() == [
        "all modules for serving requests are imported",
        "left out: []",
    ]
