"""Settings of the Spark session that a pipeline file gets by itself."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest
from pyspark.errors import PySparkRuntimeError

from ottla.pipelines.declaration.loading import load
from ottla.pipelines.errors import PipelineError
from ottla.pipelines.running.session import session_settings, started_session

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


class Java:
    """A builder of sessions whose Java ends with an error."""

    def __init__(self, condition: str, **parameters: str) -> None:
        self.condition, self.parameters = condition, parameters

    def getOrCreate(self) -> None:  # noqa: N802
        raise PySparkRuntimeError(errorClass=self.condition, messageParameters=self.parameters)


@pytest.mark.parametrize(
    ("home", "named"), [("/no/java", "Java of JAVA_HOME=/no/java"), (None, "java of the PATH")]
)
def test_a_java_that_does_not_start_is_named(
    monkeypatch: pytest.MonkeyPatch, home: str | None, named: str
) -> None:
    monkeypatch.delenv("JAVA_HOME", raising=False)
    if home is not None:
        monkeypatch.setenv("JAVA_HOME", home)
    with pytest.raises(PipelineError, match=f"needs Java 17, and the {named} does not start"):
        started_session(Java("JAVA_GATEWAY_EXITED"))
    with pytest.raises(PySparkRuntimeError):
        started_session(Java("CANNOT_OPEN_SOCKET", errors="refused"))
