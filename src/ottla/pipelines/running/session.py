"""The Spark session of a pipeline file.

Promises  workers run the Python of this program, and find the modules beside the file; times are
          UTC whatever the machine says.
"""

from __future__ import annotations

import os
import sys
import tempfile
from pathlib import Path
from typing import Any

from ottla.pipelines.declaration.tree import Declaration
from ottla.pipelines.errors import PipelineError

DEFAULTS = {
    "spark.master": "local[2]",
    "spark.app.name": "ottla pipelines",
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.session.timeZone": "UTC",
    "spark.sql.streaming.stopTimeout": "60s",
}
# Quicker than TCP. PySpark makes the sockets in the directory for temporary files, with names of
# this length; the operating system limits the length of their paths.
UNIX_SOCKETS = {"spark.python.unix.domain.socket.enabled": "true"}
SOCKET_NAME = len("/.00000000-0000-0000-0000-000000000000.sock")
SOCKET_PATH_MAX = 100
LOCAL = {"spark.driver.host": "127.0.0.1", "spark.driver.bindAddress": "127.0.0.1"}


def open_session(declared: Declaration) -> Any:
    from pyspark.sql import SparkSession

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)
    add_module_path(declared)
    builder = SparkSession.builder
    for name, value in session_settings(declared).items():
        builder = builder.config(name, value)
    spark = started_session(builder)
    spark.sparkContext.setLogLevel("ERROR")
    return spark


def started_session(builder: Any) -> Any:
    """PipelineError if Java does not start: what it says itself is on standard error."""
    from pyspark.errors import PySparkRuntimeError

    try:
        return builder.getOrCreate()
    except PySparkRuntimeError as error:
        if error.getCondition() != "JAVA_GATEWAY_EXITED":
            raise
        home = os.environ.get("JAVA_HOME")
        where = "java of the PATH" if home is None else f"Java of JAVA_HOME={home}"
        raise PipelineError(
            f"Spark needs Java 17, and the {where} does not start: install Java 17, or set "
            "JAVA_HOME to its directory"
        ) from None


def session_settings(declared: Declaration) -> dict[str, str]:
    configured = {f"spark.{name}": value for name, value in (declared.spark or {}).items()}
    is_local = configured.get("spark.master", DEFAULTS["spark.master"]).startswith("local")
    has_room = len(tempfile.gettempdir()) + SOCKET_NAME <= SOCKET_PATH_MAX
    sockets = UNIX_SOCKETS if has_room else {}
    return {**DEFAULTS, **sockets, **(LOCAL if is_local else {}), **configured}


def add_module_path(declared: Declaration) -> None:
    """For `python: module:function`, and for its functions that run in tasks."""
    beside = str(Path(declared.file).resolve().parent)
    if beside not in sys.path:
        sys.path.insert(0, beside)
    known = os.environ.get("PYTHONPATH", "").split(os.pathsep)
    if beside not in known:
        os.environ["PYTHONPATH"] = os.pathsep.join(filter(None, [beside, *known]))
