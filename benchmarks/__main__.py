"""Runs all benchmarks, or the given ones.

python -m benchmarks                     single components (micro/)
python -m benchmarks end_to_end          whole brokers, compared with Apache Kafka (end_to_end/)
python -m benchmarks spark               our data source, compared with Spark's connector (spark/)
python -m benchmarks storage latency     single benchmarks; further arguments are passed to them:
python -m benchmarks latency --rounds 5 --only ottla

If throughput and latency are among them, with Apache Kafka, a plot of both is written to PLOT.
"""

from __future__ import annotations

import compileall
import os
import subprocess
import sys
from pathlib import Path

from tools.reference.benchmark_plot import benchmark_plot, has_figures

import ottla

FOLDER = Path(__file__).parent
PLOT = FOLDER.parent / ".cache" / "benchmarks.svg"
FOLDERS = MICRO, _, _ = "micro", "end_to_end", "spark"
HELPERS = ("background_work", "audit_work")  # processes that `latency` and `audit_beside` start


def main() -> int:
    words = sys.argv[1:]
    count = next((at for at, word in enumerate(words) if word.startswith("-")), len(words))
    wanted, options = words[:count] or [MICRO], words[count:]
    known = find_benchmarks()
    modules = [module for name in wanted for module in modules_of(name, known)]
    unknown = [name for name in wanted if not modules_of(name, known)]
    if unknown:
        print(f"no such benchmark: {', '.join(unknown)}", file=sys.stderr)
        return 2
    compile_modules()
    failed, tables = 0, ""
    for module in modules:
        print(f"\n== {module.rpartition('.')[2]}\n", flush=True)
        code, text = run([sys.executable, "-m", module, *options])
        failed |= code
        tables += text
    if has_figures(tables):
        PLOT.parent.mkdir(exist_ok=True)
        PLOT.write_text(benchmark_plot(tables))
        print(f"plot: {PLOT}")
    return failed


def run(command: list[str]) -> tuple[int, str]:
    """Its exit code, and what it has written to standard output, which is also shown."""
    lines = []
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout is not None
        for line in process.stdout:
            print(line, end="", flush=True)
            lines.append(line)
    return process.returncode, "".join(lines)


def compile_modules() -> None:
    """As an installed package has them: otherwise each process that is started compiles them, which
    takes longer than all the rest of its start."""
    os.environ.pop("PYTHONDONTWRITEBYTECODE", None)
    compileall.compile_dir(Path(ottla.__path__[0]), quiet=1)


def find_benchmarks() -> dict[str, str]:
    """Module by name: every file that can run without arguments."""
    return {
        path.stem: f"benchmarks.{path.parent.name}.{path.stem}"
        for folder in FOLDERS
        for path in sorted((FOLDER / folder).glob("*.py"))
        if '__name__ == "__main__"' in path.read_text() and path.stem not in HELPERS
    }


def modules_of(name: str, known: dict[str, str]) -> list[str]:
    """A folder means all benchmarks in it."""
    if name in FOLDERS:
        return [module for module in known.values() if f".{name}." in module]
    return [known[name]] if name in known else []


if __name__ == "__main__":
    sys.exit(main())
