"""One Java process that cannot outlive the tests which started it.

Promises  whatever ends this Python process, the JVM ends too: it watches its standard input, and
          halts when that closes. `close` and the end of a `with` block end it at once.
Leaves    what is said over the pipes to `oracle.py` and `apache_kafka.py`.
"""

from __future__ import annotations

import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, Self

from tests.support.class_archive import SHORT_LIFE
from tests.support.kafka_jars import KAFKA_VERSION, class_path

OPTIONS = (
    *SHORT_LIFE,
    "-Djava.net.preferIPv4Stack=true",
    "-Dorg.slf4j.simpleLogger.logFile=System.err",
    "-Dorg.slf4j.simpleLogger.cacheOutputStream=true",
)
LOG_LEVEL = "-Dorg.slf4j.simpleLogger.defaultLogLevel={}"
END_S = 120.0


class JavaProcess:
    """A running main class of `tests/support/java`, its standard error in a file."""

    def __init__(
        self,
        main_class: str,
        arguments: Sequence[str] = (),
        *,
        log_path: Path,
        heap_mb: int = 256,
        log_level: str = "warn",
        version: str = KAFKA_VERSION,
        options: Sequence[str] = (),
    ) -> None:
        # Codecs unpack their native parts there, and a killed process leaves them behind.
        temporary = f"-Djava.io.tmpdir={log_path.parent}"
        given = (*OPTIONS, f"-Xmx{heap_mb}m", LOG_LEVEL.format(log_level), temporary, *options)
        self.log_path = log_path
        with log_path.open("ab") as log:
            self._process = subprocess.Popen(
                ["java", *given, "-cp", class_path(version), main_class, *arguments],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=log,
            )

    @property
    def stdin(self) -> IO[bytes]:
        assert self._process.stdin is not None
        return self._process.stdin

    @property
    def stdout(self) -> IO[bytes]:
        assert self._process.stdout is not None
        return self._process.stdout

    @property
    def pid(self) -> int:
        return self._process.pid

    @property
    def is_running(self) -> bool:
        return self._process.poll() is None

    def log_tail(self, characters: int = 4000) -> str:
        return self.log_path.read_text(errors="replace")[-characters:]

    def terminate(self) -> int:
        """Ask it to end and wait until it did; the exit status."""
        self._process.send_signal(signal.SIGTERM)
        return self._process.wait(END_S)

    def kill(self) -> None:
        """What kill -9 does: nothing is closed, nothing is flushed."""
        self._process.kill()
        self._process.wait(END_S)

    def close(self) -> None:
        if self.is_running:
            self.kill()
        for pipe in (self._process.stdin, self._process.stdout):
            if pipe is not None:
                with suppress(BrokenPipeError):  # what was not sent yet has no reader any more
                    pipe.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.close()
