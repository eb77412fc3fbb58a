"""A whole run over a toy: obvious faults are found, a change that changes nothing survives."""

from __future__ import annotations

import ast
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tools.mutants import worker
from tools.mutants.judged import FILE, Judged, read_judged, reason_for, stale
from tools.mutants.mutant import find_mutants
from tools.mutants.parts import PARTS, part_named
from tools.mutants.report import Score, report_text
from tools.mutants.results import Outcome, Result, Results
from tools.mutants.tested_lines import TestedLines
from tools.mutants.worker import TIMED_OUT, importers, wait_for

ROOT = Path(__file__).parents[4]

TOY = """\
LIMIT = 10
SAME = 3


def step():
    return 1


STEP = step()


def clamp(value: int, least: int = 0) -> int:
    if value <= least:
        return least
    return min(value, LIMIT)


def unused(value: int) -> int:
    return value + 7


def doubled(value: int) -> int:
    return value * 2


def spin(value: int) -> int:
    while value > 0:
        value -= STEP
    return value


class Box:
    def __init__(self, size: int) -> None:
        self._size = size

    @property
    def is_full(self) -> bool:
        return self._size > LIMIT

    async def grow(self) -> None:
        self._size += STEP
"""

TESTS = """\
import asyncio
import signal

import pytest

from toy.arithmetic import Box, clamp, doubled, spin


@pytest.fixture(scope="module")
def answers():
    return [doubled(0), doubled(21)]


@pytest.mark.parametrize(("at", "answer"), [(0, 0), (1, 42)])
def test_answers_that_were_made_together(at, answer, answers):
    assert answers[at] == answer


def test_clamp():
    assert [clamp(each) for each in (-5, 0, 5, 10, 50)] == [0, 0, 5, 10, 10]


def test_spin():
    signal.signal(signal.SIGALRM, signal.SIG_IGN)  # tests may have alarms of their own
    assert spin(3) == 0


def test_box():
    box = Box(10)
    assert not box.is_full
    asyncio.run(box.grow())
    assert box.is_full
"""


@pytest.fixture(scope="module")
def toy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    root = tmp_path_factory.mktemp("toy")
    for folder in ("src/ottla/toy", "tests/unit/toy", "tests/support"):
        (root / folder).mkdir(parents=True)
    (root / "src/ottla/toy/arithmetic.py").write_text(TOY)
    (root / "src/ottla/toy/__init__.py").write_text("")
    (root / "tests/unit/toy/test_arithmetic.py").write_text(TESTS)
    (root / "pyproject.toml").write_text('[tool.pytest.ini_options]\npythonpath = ["src/ottla"]\n')
    return root


def run(root: Path, *options: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "tools.mutants", "--part", "toy", *options],
        cwd=root,
        env={**os.environ, "PYTHONPATH": str(ROOT), "MUTANTS_START_S": "5"},
        capture_output=True,
        text=True,
        timeout=300,
    )


@pytest.mark.ci
@pytest.mark.slow
def test_faults_are_found_and_what_changes_nothing_survives(toy: Path) -> None:
    pytest.importorskip("coverage")
    printed = run(toy, "--jobs", "2").stdout
    results = Results(toy / ".cache/mutants/results.jsonl")
    mutants = find_mutants(toy / "src/ottla/toy/arithmetic.py", toy)
    outcomes = {
        f"{each.function}: {each.change}": results.known[each.key].outcome for each in mutants
    }
    assert outcomes["clamp: min(value, LIMIT) -> max(value, LIMIT)"] is Outcome.FOUND
    assert outcomes["clamp: 0 -> 1"] is Outcome.FOUND, "a default"
    assert outcomes["<module>: 10 -> 11"] is Outcome.FOUND, "needs a new import"
    assert outcomes["Box.is_full: self._size > LIMIT -> self._size >= LIMIT"] is Outcome.FOUND
    assert outcomes["Box.grow: self._size += STEP -> pass"] is Outcome.FOUND
    assert outcomes["doubled: 2 -> 3"] is Outcome.FOUND, "by the second test of a fixture"
    assert outcomes["step: 1 -> 2"] is Outcome.FOUND, "its effect is over after the import"
    assert outcomes["clamp: value <= least -> value < least"] is Outcome.SURVIVED, "equivalent"
    assert outcomes["<module>: 3 -> 4"] is Outcome.SURVIVED, "it is never used"
    assert outcomes["unused: 7 -> 8"] is Outcome.UNCOVERED
    assert outcomes["spin: value -= STEP -> pass"] is Outcome.TIMED_OUT
    assert outcomes["spin: value -= STEP -> value += STEP"] is Outcome.TIMED_OUT
    assert max(each.seconds for each in results.known.values()) < 60, "the limit of a test"
    assert "clamp [compare-boundary] value <= least -> value < least" in printed
    again = run(toy, "--goal", "99")
    assert "found  " not in again.stdout, "everything is known"
    assert again.returncode == 1, "below the goal"


def test_a_constant_meets_the_tests_of_its_module_and_of_those_that_import_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    texts = {
        "limits.py": "LIMIT = 1\n",
        "direct.py": "from ottla.part.limits import LIMIT\n",
        "whole.py": "import ottla.part.limits\n",
        "by_package.py": "from ottla.part import (\n    other,\n    limits,\n)\n",
        "another.py": "from ottla.part.limits_of_others import LIMIT\nlimits = 1\n",
        "unconcerned.py": "from ottla.part import other\n",
    }
    folder = Path("src/ottla/part")
    folder.mkdir(parents=True)
    for name, text in texts.items():
        (folder / name).write_text(text)
    paths = [str(folder / name) for name in texts]
    found = {Path(each).stem for each in importers(paths[0], paths)}
    assert found == {"direct", "whole", "by_package"}
    tests = {path: {1: frozenset({f"test {Path(path).stem}", ""})} for path in paths}
    tested = TestedLines({f"test {Path(path).stem}": 1.0 for path in paths}, tests)
    mutant = find_mutants((tmp_path / paths[0]).resolve(), tmp_path.resolve())[0]
    chosen = {"test limits", "test direct", "test whole", "test by_package"}
    assert set(worker.tests_for(mutant, tested)) == chosen


def test_a_child_that_hangs_is_ended() -> None:
    child = os.fork()
    if child == 0:
        os.setsid()
        while True:
            pass
    assert wait_for(child, 0.05) == TIMED_OUT
    with pytest.raises(ChildProcessError):
        os.waitpid(child, 0)


def test_survivors_are_tried_again_once_tests_change_and_all_once_the_source_does(
    tmp_path: Path,
) -> None:
    path = tmp_path / "module.py"
    path.write_text("A = 1\nB = 5\n")
    found, alive, *_ = find_mutants(path, tmp_path)
    results = Results(tmp_path / "results.jsonl")
    results.add(Result(found.key, Outcome.FOUND, "source", "tests", "test_a"))
    results.add(Result(alive.key, Outcome.SURVIVED, "source", "tests"))
    results = Results(tmp_path / "results.jsonl")
    assert results.get(found, "source", "other tests") is not None
    assert results.get(alive, "source", "tests") is not None
    assert results.get(alive, "source", "other tests") is None
    assert results.get(found, "other source", "tests") is None


def test_a_score_tells_timeouts_and_judged_survivors_apart(tmp_path: Path) -> None:
    path = tmp_path / "module.py"
    path.write_text("A = 1\nB = 5\nC = True\n")
    mutants = find_mutants(path, tmp_path)
    judged = [Judged("module.py", "<module>", "True -> False", "it is never read")]
    score = Score("part", 99)
    fates = (Outcome.FOUND, Outcome.TIMED_OUT, Outcome.BROKEN, Outcome.SURVIVED, Outcome.SURVIVED)
    for mutant, outcome in zip(mutants, fates, strict=True):
        score.add(mutant, Result(mutant.key, outcome, "", ""), judged)
    assert score.row() == "| part | 99 | 5 | 1 | 1 | 1 | 1 | 1 | 75 % |"
    text = report_text([score])
    assert "[constant] 5 -> 4" in text
    assert "True -> False" not in text


def functions_in(node: ast.AST, *outer: str) -> Iterator[str]:
    """Qualified names, as `Judged.function` has them."""
    for each in ast.iter_child_nodes(node):
        if isinstance(each, ast.FunctionDef | ast.AsyncFunctionDef | ast.ClassDef):
            yield ".".join((*outer, each.name))
            yield from functions_in(each, *outer, each.name)
        else:
            yield from functions_in(each, *outer)


def test_every_judgement_is_of_a_function_that_exists_and_says_why() -> None:
    for each in read_judged(FILE):
        tree = ast.parse((ROOT / "src/ottla" / each.path).read_text())
        assert each.function in ("<module>", *functions_in(tree)), each
        assert len(each.why) > 20, each


def test_judgements_of_code_that_has_changed_are_named(tmp_path: Path) -> None:
    path = tmp_path / "src/ottla/toy/module.py"
    path.parent.mkdir(parents=True)
    path.write_text("A = 1\n")
    known = Judged("toy/module.py", "<module>", "1 -> 2", "a matter of taste")
    gone = Judged("toy/module.py", "<module>", "7 -> 8", "a matter of taste")
    elsewhere = Judged("other/module.py", "<module>", "7 -> 8", "a matter of taste")
    mutants = find_mutants(path, tmp_path)
    assert stale([known, gone, elsewhere], "toy", mutants) == [gone]
    assert reason_for(mutants[0], [gone, known]) == "a matter of taste"
    assert reason_for(mutants[1], [gone, known]) is None


@pytest.mark.parametrize("name", PARTS)
def test_every_part_has_code_and_tests(name: str) -> None:
    part = part_named(name)
    assert part.files(ROOT)
    assert all((ROOT / each).exists() for each in part.tests)
    assert f"{name}/".startswith(f"{part.recorded}/")
