"""Apache Kafka's jars and our small Java programs beside them, fetched and compiled once.

Two releases are there: the newest, with all programs, and the last one that still knew ZooKeeper,
with those that drive clients and tools.

Owns      `.cache/apache-kafka-<version>/`: the pom, `libs/`, and one jar of classes for each state
          of `tests/support/java/`.
Promises  several processes may ask at once: one does the work, the others wait for it. What is
          there is complete, because it gets its name last.
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
from zipfile import ZipFile

KAFKA_VERSION = "4.3.1"
OLDER_VERSION = "3.9.2"
ROOT = Path(__file__).parents[2]
JAVA_SOURCES = Path(__file__).parent / "java"

# What compiles with the older release too; the others look inside the newest one.
CLIENT_SOURCES = ("Oracle", "HeadersJson", "ClientsOracle", "GroupsOracle", "ToolsOracle")

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
def class_path(version: str = KAFKA_VERSION) -> str:
    """What to give `java -cp`: our programs first, then all of Kafka.

    Jars alone, in a fixed order: the classes of a folder cannot be put into a class archive.
    """
    libs = sorted(map(str, kafka_libs(version).glob("*.jar")))
    return os.pathsep.join([str(helper_classes(version)), *libs])


def kafka_libs(version: str = KAFKA_VERSION) -> Path:
    """The folder with Kafka's jars, fetched with Maven where it is not there yet."""
    libs = _folder_of(version) / "libs"
    with locked(libs.with_name("libs.lock")):
        if not libs.is_dir():
            _fetch(version, libs)
    return libs


def helper_classes(version: str = KAFKA_VERSION) -> Path:
    """The compiled Java programs of the tests, for exactly the sources that are there now."""
    sources = _sources_for(version)
    jar = _folder_of(version) / f"classes-{_fingerprint(sources)}.jar"
    libs = kafka_libs(version)
    with locked(jar.with_name("classes.lock")):
        if not jar.is_file():
            _compile(sources, libs, jar)
    return jar


def pom_text(version: str, *parts: str) -> str:
    """With these parts of Kafka: by default its broker and tools."""
    artifacts = (
        *(("org.apache.kafka", each, version) for each in parts or ("kafka_2.13", "kafka-tools")),
        ("org.slf4j", "slf4j-simple", "1.7.36"),
    )
    return _POM.format("".join(_DEPENDENCY.format(*artifact) for artifact in artifacts))


def _folder_of(version: str) -> Path:
    return ROOT / ".cache" / f"apache-kafka-{version}"


def _sources_for(version: str) -> list[Path]:
    if version == KAFKA_VERSION:
        return sorted(JAVA_SOURCES.rglob("*.java"))
    return [JAVA_SOURCES / f"{name}.java" for name in CLIENT_SOURCES]


def _fetch(version: str, libs: Path) -> None:
    partial = _empty_directory(libs.with_name("libs.partial"))
    pom = libs.with_name("pom.xml")
    pom.write_text(pom_text(version))
    goal = ["dependency:copy-dependencies", f"-DoutputDirectory={partial}"]
    _run(["mvn", "--quiet", "--batch-mode", "--file", str(pom), *goal])
    partial.rename(libs)


def _compile(sources: list[Path], libs: Path, jar: Path) -> None:
    partial = _empty_directory(jar.with_name("classes.partial"))
    options = ["-Xlint:deprecation,rawtypes,unchecked", "-Werror", "--release", "17"]
    places = ["-d", str(partial), "-cp", f"{libs}/*"]
    _run(["javac", *options, *places, *map(str, sources)])
    packed = jar.with_suffix(".partial")
    with ZipFile(packed, "w") as archive:
        for path in sorted(partial.rglob("*.class")):
            archive.write(path, str(path.relative_to(partial)))
    shutil.rmtree(partial)
    packed.rename(jar)


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
def locked(path: Path) -> Iterator[None]:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)  # released with the file, also when a process dies
        yield
