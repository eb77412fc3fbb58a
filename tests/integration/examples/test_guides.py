"""What the guides show is what happens: their commands and programs are run.

`console` blocks hold commands after `$` and what they print (`...` stands for anything), `python`
blocks are programs, `output` blocks what the one before them prints. They run top to bottom against
one broker for each guide.
"""

from __future__ import annotations

import contextlib
import doctest
import io
import re
import subprocess
from collections.abc import Iterator
from functools import partial
from pathlib import Path
from typing import NamedTuple

import pytest
from tests.integration.examples.test_examples import PATIENCE_S, environment
from tests.integration.spark.queries import insist

from ottla.testing.broker import RunningBroker

ROOT = Path(__file__).parents[3]
SPARK_GUIDE = "docs/guides/spark-without-a-jar.md"  # run by `test_spark_examples.py`
FIRST_LAKE = "docs/guides/first-lake.md"  # run by `pipelines/test_first_lake.py`
GUIDES = [
    "README.md",
    "docs/guides/first-steps.md",
    "docs/guides/command-line.md",
    "docs/guides/testing-with-ottla.md",
    SPARK_GUIDE,
    FIRST_LAKE,
]
ADDRESS = "localhost:9092"  # in the guides
FIXTURE_EXAMPLES = ("def test_", "@pytest.fixture")
ENDLESS_EXAMPLES = ('.option("checkpointLocation", "/checkpoints/',)  # tested with the sink

pytestmark = pytest.mark.xdist_group("examples")


class Block(NamedTuple):
    kind: str
    content: str


def blocks_of(guide: Path) -> list[Block]:
    found = re.findall(r"^```(\w*)\n(.*?)^```$", guide.read_text(), re.DOTALL | re.MULTILINE)
    return [Block(kind, content) for kind, content in found]


def steps_of(content: str) -> Iterator[tuple[str, str]]:
    """Each command with what it should print."""
    for part in re.split(r"^\$ ", content, flags=re.MULTILINE)[1:]:
        command, _, expected = part.partition("\n")
        yield command, expected


def run_shell(command: str, broker: RunningBroker, directory: Path | None = None) -> str:
    done = subprocess.run(
        command,
        shell=True,
        cwd=directory,
        env=environment(broker),
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.returncode == 0, f"{command}: {done.stderr}"
    return done.stdout


def run_python(content: str, broker: RunningBroker, names: dict[str, object]) -> str:
    """`names` are those of the programs before it in the same guide."""
    printed = io.StringIO()
    program = compile(content.replace(ADDRESS, broker.bootstrap_servers), "guide", "exec")
    with contextlib.redirect_stdout(printed):
        exec(program, names)
    return printed.getvalue()


@pytest.mark.parametrize("name", GUIDES)
def test_links_within_the_project_lead_somewhere(name: str) -> None:
    guide = ROOT / name
    links = re.findall(r"\]\(([^)#:]+)\)", guide.read_text())
    assert [link for link in links if not (guide.parent / link).exists()] == []


def assert_printed(expected: str, printed: str, by: str, options: int = doctest.ELLIPSIS) -> None:
    checker = doctest.OutputChecker()
    is_right = checker.check_output(expected, printed, options)
    assert is_right, f"{by}\nexpected:\n{expected}\nprinted:\n{printed}"


@pytest.mark.parametrize("name", [name for name in GUIDES if name not in (SPARK_GUIDE, FIRST_LAKE)])
def test_the_guide_shows_what_happens(name: str) -> None:
    check_guide(name)


def check_guide(name: str, directory: Path | None = None, options: int = doctest.ELLIPSIS) -> None:
    """Its commands run in the directory; `options` of doctest compare what they print."""
    blocks = blocks_of(ROOT / name)
    assert any(block.kind in ("console", "python") for block in blocks)
    printed = ""
    names: dict[str, object] = {"__name__": "guide"}
    with RunningBroker() as broker:
        for block in blocks:
            if block.kind == "console":
                for command, expected in steps_of(block.content):
                    assert_printed(
                        expected, run_shell(command, broker, directory), command, options
                    )
            elif block.kind == "python" and not any(
                sign in block.content for sign in FIXTURE_EXAMPLES + ENDLESS_EXAMPLES
            ):
                program = partial(run_python, block.content, broker, names)
                printed = insist(program)
            elif block.kind == "output":
                assert_printed(block.content, printed, "the program above", options)
