"""Apache Kafka's jars and our small Java programs beside them, fetched and compiled once.

Owns      `.cache/apache-kafka-<version>/`: the pom, `libs/`, and one folder of classes for each
          state of `tests/support/java/`.
Promises  several processes may ask at once: one does the work, the others wait for it. A folder
          that is there is complete, because it gets its name last.
"""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path

KAFKA_VERSION = "4.3.1"
ROOT = Path(__file__).parents[2]
CACHE = ROOT / ".cache" / f"apache-kafka-{KAFKA_VERSION}"
JAVA_SOURCES = Path(__file__).parent / "java"

ARTIFACTS = (
    ("org.apache.kafka", "kafka_2.13", KAFKA_VERSION),
    ("org.apache.kafka", "kafka-tools", KAFKA_VERSION),
    ("org.slf4j", "slf4j-simple", "1.7.36"),
)
_DEPENDENCY = """\
    <dependency>
      <groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version>
    </dependency>
"""
_POM = """\
<project xmlns="http://maven.apache.org/POM/4.0.0">
  <modelVersion>4.0.0</modelVersion>
  <groupId>ottla.tests</groupId>
  <artifactId>apache-kafka</artifactId>
  <version>1</version>
  <packaging>pom</packaging>
  <dependencies>
{}  </dependencies>
</project>
"""


class BuildFailed(Exception):
    """Maven or javac did not do what the tests need; the text says what they printed."""


@cache
def class_path() -> str:
    """What to give `java -cp`: our programs first, then all of Kafka."""
    return f"{helper_classes()}{os.pathsep}{kafka_libs()}/*"


def kafka_libs() -> Path:
    """The folder with Kafka's jars, fetched with Maven where it is not there yet."""
    libs = CACHE / "libs"
    with _locked(CACHE / "libs.lock"):
        if not libs.is_dir():
            _fetch(libs)
    return libs


def helper_classes() -> Path:
    """The compiled Java programs of the tests, for exactly the sources that are there now."""
    sources = sorted(JAVA_SOURCES.rglob("*.java"))
    classes = CACHE / f"classes-{_fingerprint(sources)}"
    libs = kafka_libs()
    with _locked(CACHE / "classes.lock"):
        if not classes.is_dir():
            _compile(sources, libs, classes)
    return classes


def pom_text() -> str:
    return _POM.format("".join(_DEPENDENCY.format(*artifact) for artifact in ARTIFACTS))


def _fetch(libs: Path) -> None:
    partial = _empty_directory(libs.with_name("libs.partial"))
    pom = CACHE / "pom.xml"
    pom.write_text(pom_text())
    goal = ["dependency:copy-dependencies", f"-DoutputDirectory={partial}"]
    _run(["mvn", "--quiet", "--batch-mode", "--file", str(pom), *goal])
    partial.rename(libs)


def _compile(sources: list[Path], libs: Path, classes: Path) -> None:
    partial = _empty_directory(CACHE / "classes.partial")
    options = ["-Xlint:deprecation,rawtypes,unchecked", "-Werror", "--release", "17"]
    places = ["-d", str(partial), "-cp", f"{libs}/*"]
    _run(["javac", *options, *places, *map(str, sources)])
    partial.rename(classes)


def _fingerprint(sources: list[Path]) -> str:
    content = b"\0".join(path.name.encode() + b"\0" + path.read_bytes() for path in sources)
    return hashlib.sha256(content).hexdigest()[:16]


def _empty_directory(path: Path) -> Path:
    shutil.rmtree(path, ignore_errors=True)
    path.mkdir(parents=True)
    return path


def _run(command: list[str]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise BuildFailed(f"{' '.join(command)}\n{done.stdout}{done.stderr}")


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # released with the file, also when a process dies
        yield
