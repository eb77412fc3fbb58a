"""A PostgreSQL of our own for a test: a fresh cluster in a temporary directory, gone afterwards."""

from __future__ import annotations

import os
import pwd
import shutil
import subprocess
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from ottla.testing.ports import non_ephemeral_port

# It refuses to run as root; any other user will do.
USER = "nobody" if os.geteuid() == 0 else None
PLACES = ("/usr/lib/postgresql/*/bin", "/usr/local/pgsql/bin")


def find_postgresql() -> Path | None:
    """The folder with initdb and pg_ctl; None where PostgreSQL is not installed."""
    if (found := shutil.which("initdb")) and shutil.which("pg_ctl"):
        return Path(found).parent
    folders = [each for place in PLACES for each in Path("/").glob(place[1:])]
    return next(
        (each for each in sorted(folders, reverse=True) if (each / "initdb").exists()), None
    )


@contextmanager
def running_postgresql(programs: Path) -> Iterator[str]:
    """Its address, as psycopg takes it."""
    with tempfile.TemporaryDirectory(prefix="ottla-postgresql-", dir="/tmp") as place:
        directory, port = Path(place) / "data", non_ephemeral_port()
        if USER is not None:
            user = pwd.getpwnam(USER)
            os.chown(place, user.pw_uid, user.pw_gid)
        words = ["-D", str(directory), "-U", "ottla", "-A", "trust", "--no-sync"]
        _run([str(programs / "initdb"), *words], place)
        options = f"-p {port} -k {place} -h 127.0.0.1 -F"
        control = [str(programs / "pg_ctl"), "-D", str(directory), "-w"]
        _run([*control, "-o", options, "-l", f"{place}/log", "start"], place)
        try:
            yield f"postgresql://ottla@127.0.0.1:{port}/postgres"
        finally:
            _run([*control, "-m", "immediate", "stop"], place)


def _run(words: list[str], place: str) -> None:
    subprocess.run(
        words,
        cwd=place,
        user=USER,
        check=True,
        capture_output=True,
        env={**os.environ, "HOME": place},
    )
