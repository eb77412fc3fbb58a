"""The one directory that holds everything the story makes: data, lake, checkpoints, logs, page.

Promises  only a directory that this program made, or an empty one, is ever emptied.
"""

from __future__ import annotations

import shutil
from pathlib import Path

MARK = ".ottla-demo"


class ForeignDirectory(ValueError):
    """It holds something that this program did not put there."""


class Place:
    def __init__(self, root: Path) -> None:
        self.root = root.resolve()
        self.broker = self.root / "broker"
        self.lake = self.root / "lake"
        self.checkpoints = self.root / "checkpoints"
        self.logs = self.root / "logs"
        self.temporary = self.root / "tmp"
        self.progress = self.root / "generator.jsonl"
        self.result = self.root / "result.json"
        self.recording = self.root / "recording.json"
        self.page = self.root / "report.html"

    def prepare(self) -> None:
        """Empty, with what a new story needs. The directory hides itself from git."""
        self.clean()
        for directory in (self.root, self.checkpoints, self.logs, self.temporary):
            directory.mkdir(parents=True, exist_ok=True)
        (self.root / MARK).touch()
        (self.root / ".gitignore").write_text("*\n")

    def clean(self) -> None:
        if not self.root.exists():
            return
        if any(self.root.iterdir()) and not (self.root / MARK).exists():
            raise ForeignDirectory(f"{self.root} was not made by the demo: choose another one")
        shutil.rmtree(self.root)
