"""Builds a wheel for this machine, and tests it in an empty environment.

    python -m tools.wheel

Tests what a user gets: the command starts, the compiled loops are included, a broker serves and
stops, and the declared dependencies are sufficient. Wheels for other platforms are built by
cibuildwheel with the same check (`[tool.cibuildwheel]` in pyproject.toml).
"""

from __future__ import annotations

import subprocess
import sys
import venv
from pathlib import Path
from tempfile import TemporaryDirectory

ROOT = Path(__file__).parents[1]
DIST = ROOT / "dist"
START_S = 60


def main() -> int:
    wheel = build()
    with TemporaryDirectory(prefix="ottla-wheel-") as folder:
        check(wheel, Path(folder))
    print(f"{wheel.relative_to(ROOT)}: installs into an empty environment, and serves")
    return 0


def build() -> Path:
    for old in DIST.glob("ottla-*.whl"):
        old.unlink()
    run(sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(DIST), str(ROOT))
    (wheel,) = DIST.glob("ottla-*.whl")
    return wheel


def check(wheel: Path, folder: Path) -> None:
    """Outside the repository, so that nothing is imported from there."""
    environment = folder / "environment"
    venv.create(environment, with_pip=True)
    binaries = environment / "bin"
    run(str(binaries / "python"), "-m", "pip", "install", "--quiet", str(wheel), folder=folder)
    version = run(str(binaries / "ottla"), "version", folder=folder)
    print(version, end="")
    if "compiled" not in version:
        raise SystemExit("the wheel has no compiled loops")
    serve(binaries / "ottla", folder)


def serve(command: Path, folder: Path) -> None:
    broker = subprocess.Popen(
        [str(command), "up", "--listen", "127.0.0.1:0", "--data", str(folder / "data")],
        cwd=folder,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        assert broker.stdout is not None
        line = broker.stdout.readline()
        if "ready" not in line:
            raise SystemExit(f"the broker says {line!r}")
    finally:
        broker.terminate()
        code = broker.wait(START_S)
    if code:
        raise SystemExit(f"the broker ended with {code}")


def run(*command: str, folder: Path = ROOT) -> str:
    done = subprocess.run(command, cwd=folder, stdout=subprocess.PIPE, text=True)
    if done.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {done.returncode}")
    return done.stdout


if __name__ == "__main__":
    sys.exit(main())
