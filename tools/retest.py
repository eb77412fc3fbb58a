"""Runs the failed tests of the last run again, each by itself.

    python -m tools.retest

Thousands of tests run in parallel, together with Apache Kafka, Spark and other clients. A few that
fail there and pass alone are reported by name, as races to be investigated; they do not fail the
build. More than a few, or a test that fails again, do.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

STATUS = Path(".pytest_cache/status")  # exit status of pytest, written by the Makefile
LAST_FAILED = Path(".pytest_cache/v/cache/lastfailed")
SOME_FAILED = "1"
FEW = 5


def failed_tests(path: Path) -> list[str]:
    return sorted(json.loads(path.read_text())) if path.exists() else []


def status_of_run(path: Path) -> str:
    return path.read_text().strip() if path.exists() else "unknown"


def trouble(status: str, tests: list[str]) -> str | None:
    """The reason why retrying is not appropriate."""
    if status != SOME_FAILED:
        return f"the last run did not come to its end (status {status})"
    if not tests:
        return "the last run did not say which tests failed"
    if any("::" not in test for test in tests):
        return f"not a failed test but a file that cannot be loaded: {', '.join(tests)}"
    if len(tests) > FEW:
        return f"{len(tests)} tests failed, and more than {FEW} are no accident"
    return None


def main() -> int:
    tests = failed_tests(LAST_FAILED)
    if (reason := trouble(status_of_run(STATUS), tests)) is not None:
        print(f"no second try: {reason}", file=sys.stderr)
        return 1
    for test in tests:
        # A process for each, so that they are independent.
        if subprocess.run([sys.executable, "-m", "pytest", "-n", "0", test]).returncode != 0:
            return 1
    print("\nFailed beside others, passed alone; each is a race to be found:")
    print("\n".join(f"  {test}" for test in tests))
    return 0


if __name__ == "__main__":
    sys.exit(main())
