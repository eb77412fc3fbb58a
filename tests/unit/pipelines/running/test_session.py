"""Settings of the Spark session that a pipeline file gets by itself."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from ottla.pipelines.declaration.loading import load
from ottla.pipelines.running.session import session_settings

FILE = """
clusters: {main: "localhost:9092"}
state: ./state
pipelines:
  copy:
    from: {cluster: main, topics: [orders]}
    to: {lake: ./lake, format: parquet}
"""
SOCKETS = "spark.python.unix.domain.socket.enabled"


@pytest.mark.parametrize(("name", "has_sockets"), [("short", True), ("long" * 25, False)])
def test_unix_sockets_are_used_where_their_paths_are_short_enough(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, name: str, has_sockets: bool
) -> None:
    file = tmp_path / "pipelines.yaml"
    file.write_text(FILE)
    monkeypatch.setattr(tempfile, "tempdir", f"/{name}")
    assert (SOCKETS in session_settings(load(str(file)))) is has_sockets
