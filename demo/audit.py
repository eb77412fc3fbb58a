"""The product's audit of the demo, with its own commands, each a process.

audit = Audit(directory, servers)
audit.run()        # counts the topic and the lake, and writes the page
audit.verify()     # is everything there?
audit.drill()      # what is not, and the command that repairs it
"""

from __future__ import annotations

import json
import shlex
import subprocess
import sys
from collections.abc import Sequence
from typing import Any

from demo.directory import DemoDirectory
from demo.processes import PACKAGE_PARENT
from demo.scenario import REPORTS_TOPIC

TIER = "lake.counted"


class CommandEnded(RuntimeError):
    """A command of Ottla failed; the message is its output."""


class Audit:
    def __init__(self, directory: DemoDirectory, bootstrap_servers: str) -> None:
        self._directory = directory
        self._connected = ["-b", bootstrap_servers]

    def run(self) -> None:
        """Without Spark: it would take longer to start than to count."""
        words = ["audit", "run", REPORTS_TOPIC, "--once", "--without-spark"]
        words += ["--pipelines", str(self._directory.pipelines)]
        ottla([*words, "--html", str(self._directory.audit_page), *self._connected])

    def verify(self) -> dict[str, Any]:
        words = ["audit", "verify", REPORTS_TOPIC, "--tier", TIER]
        return documents(ottla([*words, *self._connected, "--format", "json"], codes=(0, 1)))

    def drill(self) -> dict[str, Any]:
        words = ["audit", "drill", REPORTS_TOPIC, "--tier", TIER]
        words += ["--file", str(self._directory.pipelines)]
        return documents(ottla([*words, *self._connected, "--format", "json"]))


def ottla(words: Sequence[str], codes: tuple[int, ...] = (0,)) -> str:
    """The standard output of `ottla words`."""
    done = subprocess.run(
        [sys.executable, "-m", "ottla.cli.main", *words],
        cwd=PACKAGE_PARENT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode not in codes:
        raise CommandEnded(f"$ ottla {shlex.join(words)}\n{done.stdout}{done.stderr}")
    return done.stdout


def documents(text: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(text)
    return found
