"""The requirements of the demo, and how to install what is missing."""

from __future__ import annotations

import importlib.util
import os
import re
import shutil
import subprocess
from pathlib import Path

JAVA_MIN = 17
MODULES = {"pyspark": "ottla[spark]", "confluent_kafka": "ottla[tools]", "pyarrow": "ottla[spark]"}


def find_missing() -> str | None:
    """A sentence about the first missing requirement; None if there is none."""
    for module, package in MODULES.items():
        if importlib.util.find_spec(module) is None:
            return f"the demo needs {module}: pip install '{package}'"
    return find_missing_java()


def find_missing_java() -> str | None:
    """Spark needs a JVM, which pip does not install."""
    advice = (
        f"Spark needs Java {JAVA_MIN} or newer: install a JRE (for instance: "
        f"apt-get install openjdk-{JAVA_MIN}-jre-headless) or set JAVA_HOME"
    )
    java = java_command()
    if java is None:
        return f"no java was found. {advice}"
    printed = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    version = java_version(printed.stderr + printed.stdout)
    if version is None or version < JAVA_MIN:
        return f"{java} is version {version or 'unknown'}. {advice}"
    return None


def java_command() -> str | None:
    """As Spark looks for it: JAVA_HOME has precedence over the path."""
    home = os.environ.get("JAVA_HOME")
    if home and (java := Path(home) / "bin" / "java").exists():
        return str(java)
    return shutil.which("java")


def java_version(text: str) -> int | None:
    """The feature release in what `java -version` prints: 17, or 8 of "1.8"."""
    found = re.search(r'version "(?:1\.)?(\d+)', text)
    return int(found.group(1)) if found else None
