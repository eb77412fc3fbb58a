"""Runs the benchmarks one after the other, or those that are named.

python -m benchmarks [messages records storage compaction network ...]
"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

FOLDER = Path(__file__).parent


def main() -> int:
    wanted = set(sys.argv[1:])
    scripts = [path for path in sorted(FOLDER.glob("micro/*.py")) if path.stem != "timing"]
    unknown = wanted - {path.stem for path in scripts}
    if unknown:
        print(f"no such benchmark: {', '.join(sorted(unknown))}", file=sys.stderr)
        return 2
    failed = 0
    for path in scripts:
        if not wanted or path.stem in wanted:
            print(f"\n== {path.stem}\n", flush=True)
            failed |= subprocess.run(
                [sys.executable, "-m", f"benchmarks.micro.{path.stem}"]
            ).returncode
    return failed


if __name__ == "__main__":
    sys.exit(main())
