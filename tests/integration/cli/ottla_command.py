"""The `ottla` command as people run it: a process of its own."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from collections.abc import Mapping

PATIENCE_S = 180.0


def start(
    *words: str,
    environment: Mapping[str, str] | None = None,
    stdin: int | None = subprocess.DEVNULL,
    stdout: int | None = subprocess.PIPE,
) -> subprocess.Popen[bytes]:
    """Start the command, which takes signals as if a person had started it in a terminal."""
    return subprocess.Popen(
        [sys.executable, "-m", "ottla.cli.main", *words],
        stdin=stdin,
        stdout=stdout,
        stderr=subprocess.PIPE,
        env={**clean_environment(), **(environment or {})},
        # A shell's background jobs ignore Ctrl-C, and hand that down to what they start.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )


def ottla(
    *words: str, stdin: str | bytes = b"", environment: Mapping[str, str] | None = None
) -> subprocess.CompletedProcess[str]:
    """Run the command to its end; its output is text."""
    given = stdin.encode() if isinstance(stdin, str) else stdin
    done = subprocess.run(
        [sys.executable, "-m", "ottla.cli.main", *words],
        input=given,
        capture_output=True,
        env={**clean_environment(), **(environment or {})},
        timeout=PATIENCE_S,
        check=False,
    )
    return subprocess.CompletedProcess(
        done.args, done.returncode, done.stdout.decode(), done.stderr.decode()
    )


def clean_environment() -> dict[str, str]:
    """Ours without the variables that commands look at."""
    prefixes = ("OTTLA_", "KAFKA_")
    return {name: text for name, text in os.environ.items() if not name.startswith(prefixes)}
