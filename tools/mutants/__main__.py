"""Plants mutants in parts of the code and says which of them the tests of the part notice.

    python -m tools.mutants [--part storage/producers ...] [--sample 60] [--seed 1] [--jobs 1]
                            [--goal 90] [--list]

Without `--part` each of `parts.PARTS` is tried. What was tried is kept in `.cache/mutants/`, so a
run that was stopped continues, and a survivor is tried again once the tests have changed. The exit
status is 1 if a part is below the goal.
"""

from __future__ import annotations

import argparse
import os
import shutil
import signal
import subprocess
import sys
import tempfile
from collections.abc import Sequence
from pathlib import Path

from tools.mutants.judged import read_judged, stale
from tools.mutants.mutant import Mutant, sample
from tools.mutants.parts import SOURCE, Part, parts_named
from tools.mutants.report import Score, report_text
from tools.mutants.results import Result, Results, digest
from tools.mutants.tested_lines import SOURCES, TARGET
from tools.mutants.worker import TASKS, Task, Tasks, session_command

CACHE = Path(".cache/mutants")
SOME_FAILED = 1  # of pytest: these tests are left out
LINES_PLUGIN = "tools.mutants.tested_lines"


class Run:
    """One part, its tests as they are now, and what is known already."""

    def __init__(self, part: Part, root: Path, cache: Path) -> None:
        self.part = part
        self._root = root
        self._cache = cache
        self._results_path = cache / "results.jsonl"
        tests = [path for name in (*part.tests, "tests/support") for path in _python(root / name)]
        self._tests_digest = digest(tests, root)
        self._source_digests = {
            str(path.relative_to(root)): digest([path], root) for path in part.files(root)
        }

    def mutants(self) -> list[Mutant]:
        return self.part.mutants(self._root)

    def known(self, mutants: Sequence[Mutant]) -> dict[str, Result]:
        results = Results(self._results_path)
        found = (
            results.get(each, self._source_digests[each.path], self._tests_digest)
            for each in mutants
        )
        return {result.key: result for result in found if result is not None}

    def try_all(self, mutants: Sequence[Mutant], jobs: int) -> None:
        """Try those whose fate is not known yet; each worker takes its share."""
        known = self.known(mutants)
        missing = [each for each in mutants if each.key not in known]
        if not missing:
            return
        tested = self._tested_lines()
        with tempfile.TemporaryDirectory() as folder:
            workers = [
                self._start_worker(missing[at::jobs], tested, Path(folder) / str(at))
                for at in range(min(jobs, len(missing)))
            ]
            try:
                for worker in workers:
                    worker.wait()
            finally:
                for worker in workers:
                    worker.terminate()
                    worker.wait()

    def _start_worker(
        self, mutants: Sequence[Mutant], tested: Path, folder: Path
    ) -> subprocess.Popen[bytes]:
        folder.mkdir()
        tasks = Tasks(
            [Task(each, self._source_digests[each.path]) for each in mutants],
            self._tests_digest,
            str(tested),
            str(self._results_path),
            list(self.part.tests),
        )
        tasks.write(folder / "tasks.json")
        return subprocess.Popen(
            session_command(self.part.tests, "tools.mutants.worker", folder / "tmp"),
            env={**os.environ, TASKS: str(folder / "tasks.json")},
            cwd=self._root,
        )

    def _tested_lines(self) -> Path:
        """Run the tests once for the lines that each of them runs; kept until something changes."""
        sources = digest(_python(self._root / SOURCE), self._root)
        name = self.part.recorded.replace("/", "-")
        target = self._cache / f"lines-{name}-{self._tests_digest}-{sources}.json"
        if not target.exists():
            self._cache.mkdir(parents=True, exist_ok=True)
            for old in self._cache.glob(f"lines-{name}-*.json"):
                old.unlink()
            print(f"{self.part.name}: which tests run which lines ...", flush=True)
            self._record_lines(target)
        return target

    def _record_lines(self, target: Path) -> None:
        with tempfile.TemporaryDirectory() as folder:
            recorded = Path(folder) / "lines.json"
            ended = subprocess.run(
                session_command(self.part.tests, LINES_PLUGIN, Path(folder) / "tmp"),
                env={
                    **os.environ,
                    TARGET: str(recorded),
                    SOURCES: str(self._root / SOURCE / self.part.recorded),
                },
                cwd=self._root,
                capture_output=True,
                text=True,
            )
            if ended.returncode not in (0, SOME_FAILED) or not recorded.exists():
                raise SystemExit(f"{self.part.name}: its tests do not run\n{ended.stdout[-3000:]}")
            shutil.move(recorded, target)


def _python(path: Path) -> list[Path]:
    return sorted(path.rglob("*.py")) if path.is_dir() else [path]


def score_of(run: Run, count: int | None, seed: int, jobs: int) -> Score:
    everything = run.mutants()
    chosen = sample(everything, count, seed)
    run.try_all(chosen, jobs)
    known, judged = run.known(chosen), read_judged()
    if len(known) < len(chosen):
        raise SystemExit(f"{run.part.name}: a worker ended early; what it printed is above")
    for each in stale(judged, run.part.name, everything):
        print(f"judged.toml names what is not there any more: {each.path} {each.change}")
    score = Score(run.part.name, len(everything))
    for mutant in chosen:
        score.add(mutant, known[mutant.key], judged)
    return score


def main(arguments: Sequence[str] | None = None) -> int:
    parser = argparse.ArgumentParser(prog="python -m tools.mutants")
    parser.add_argument("--part", nargs="*", default=[], help="folders below src/ottla")
    parser.add_argument("--sample", type=int, help="mutants of each part; without it all of them")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--goal", type=float, default=0.0, help="percent; below it the run fails")
    parser.add_argument("--list", action="store_true", help="name the mutants, and try none")
    parser.add_argument("--root", type=Path, default=Path.cwd())
    options = parser.parse_args(arguments)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # so that workers end, too
    root = options.root.resolve()
    runs = [Run(part, root, root / CACHE) for part in parts_named(options.part)]
    if options.list:
        for run in runs:
            for mutant in sample(run.mutants(), options.sample, options.seed):
                print(mutant)
        return 0
    scores = [score_of(run, options.sample, options.seed, options.jobs) for run in runs]
    print("\n" + report_text(scores))
    return 1 if any(score.percent < options.goal for score in scores) else 0


if __name__ == "__main__":
    sys.exit(main())
