"""Finding Java."""

from __future__ import annotations

import shutil

from ottla.cli.errors import CommandFailed


def find_java() -> str:
    java = shutil.which("java")
    if java is None:
        raise CommandFailed(
            "ZooKeeper needs Java, and there is no java on the PATH",
            "install a Java runtime, for example: apt install default-jre-headless",
        )
    return java
