"""Finding ZooKeeper's jars: in a directory that was given, in PySpark, or in Debian's package."""

from __future__ import annotations

import importlib.util
from pathlib import Path

from ottla.cli.errors import CommandFailed

# The file of each part begins so. Metrics and snappy are loaded by the server when it starts.
NEEDED = ("zookeeper-3", "zookeeper-jute-3", "slf4j-api-", "metrics-core-", "snappy-java-")
LOGGING = ("log4j-api-", "log4j-core-", "log4j-slf4j2-impl-")
DEBIAN = Path("/usr/share/java")
DEBIAN_NAMES = ("zookeeper.jar", "zookeeper-jute.jar", "slf4j-api.jar", "metrics-core.jar")


def find_jars(directory: str | None, *, with_logging: bool = False) -> list[Path]:
    """The class path of a server. CommandFailed says what is missing and how to get it."""
    if directory is not None:
        return _all_in(Path(directory))
    in_pyspark = _pyspark_jars()
    if in_pyspark is not None:
        found = _matching(in_pyspark, NEEDED)
        if found is not None:
            return found + (_matching(in_pyspark, LOGGING) or [] if with_logging else [])
    if all((DEBIAN / name).exists() for name in DEBIAN_NAMES):
        return sorted(DEBIAN.glob("*.jar"))
    raise CommandFailed(
        "no ZooKeeper is installed",
        "pip install 'ottla[spark]' has one in PySpark's jars,",
        "apt install zookeeper has one on Debian and Ubuntu,",
        "or name the lib directory of a ZooKeeper release: --jars DIR",
    )


def _all_in(directory: Path) -> list[Path]:
    if not directory.is_dir():
        raise CommandFailed(f"--jars {directory}: there is no such directory", code=2)
    jars = sorted({*directory.glob("*.jar"), *directory.glob("lib/*.jar")})
    if not any(jar.name.startswith("zookeeper") for jar in jars):
        raise CommandFailed(f"--jars {directory}: there is no zookeeper-*.jar in it", code=2)
    return jars


def _matching(directory: Path, beginnings: tuple[str, ...]) -> list[Path] | None:
    found = [sorted(directory.glob(f"{beginning}*.jar")) for beginning in beginnings]
    return [jars[-1] for jars in found] if all(found) else None


def _pyspark_jars() -> Path | None:
    spec = importlib.util.find_spec("pyspark")  # found, not imported: that takes a second
    if spec is None or spec.origin is None:
        return None
    return Path(spec.origin).parent / "jars"
