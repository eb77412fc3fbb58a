"""The directory for everything that the demo creates: data, lake, state, logs, report.

Promises  only a directory that this program created, or an empty one, is ever cleared, and never
          one that is in use by another run.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from pathlib import Path

MARK = ".ottla-demo"


class NotADemoDirectory(ValueError):
    """It contains files that this program did not create, or is in use."""


class DemoDirectory:
    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.broker = self.root / "broker"
        self.pipelines = self.root / "pipelines.yaml"
        self.lake = self.root / "lake"
        self.state = self.root / "state"
        self.logs = self.root / "logs"
        self.temporary = self.root / "tmp"
        self.progress = self.root / "generator.jsonl"
        self.result = self.root / "result.json"
        self.recording = self.root / "recording.json"
        self.page = self.root / "report.html"
        self.audit_page = self.root / "audit.html"
        self._lock: int | None = None  # file descriptor

    def prepare(self) -> None:
        """Clear the directory, create its subdirectories, and lock it until this process ends.

        It contains a .gitignore for itself.
        """
        self._empty()
        for directory in (self.logs, self.temporary):
            directory.mkdir()
        (self.root / ".gitignore").write_text("*\n")

    def reopen(self) -> None:
        """Lock the directory of an earlier run, and keep what it holds."""
        if not (self.root / MARK).exists() or not self.recording.exists():
            raise NotADemoDirectory(f"{self.root} has no finished run: `make demo` comes first")
        self._take()

    def clean(self) -> None:
        if self.root.exists():
            self._empty()
            shutil.rmtree(self.root)
            self.release()

    def release(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def _empty(self) -> None:
        self.root.mkdir(parents=True, exist_ok=True)
        if any(self.root.iterdir()) and not (self.root / MARK).exists():
            raise NotADemoDirectory(f"{self.root} was not made by the demo: choose another one")
        self._take()
        for path in self.root.iterdir():
            if path.name != MARK:
                shutil.rmtree(path) if path.is_dir() else path.unlink()

    def _take(self) -> None:
        """The lock is released when the process ends."""
        if self._lock is None:
            self._lock = os.open(self.root / MARK, os.O_RDWR | os.O_CREAT)
        try:
            fcntl.flock(self._lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            raise NotADemoDirectory(f"a demo is running in {self.root}: end it first") from None
