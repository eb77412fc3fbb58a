"""`ottla pipeline test`: compare the rows that given records produce with expected ones.

A broker and a Spark of their own, in a temporary directory: nothing of the declared clusters and
tables is touched. Exit code 0 if everything is as expected.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from ottla.base.fault_points import ONCE, VARIABLE, PipelinePoint
from ottla.cli.arguments.texts import path_name
from ottla.cli.errors import CommandFailed
from ottla.cli.output.documents import add_format_argument, show
from ottla.cli.pipelines.pipeline_file import (
    add_file_argument,
    add_names_argument,
    chosen_names,
    load_file,
    pipeline_failures,
)
from ottla.cli.pipelines.temporary_broker import temporary_broker

if TYPE_CHECKING:
    from ottla.pipelines.declaration.tree import Declaration
    from ottla.pipelines.trials.fixtures import Fixture

PREFIX = "pipeline-"
POINTS = [each.value.removeprefix(PREFIX) for each in PipelinePoint]
EPILOG = """\
The file of the test is beside the pipelines, orders.test.yaml for orders.yaml:

  orders_lake:
    in:
      orders:
      - {value: {id: 1, item: pen, at: "2026-03-01T10:00:00Z"}}
      - {value: not an order}
    out:
    - {id: 1, item: pen}
    bad: 1

examples:
  ottla pipeline test orders.yaml
  ottla pipeline test orders.yaml orders_lake --crash-after side-committed
"""


def add_arguments(parser: argparse.ArgumentParser) -> None:
    add_file_argument(parser)
    add_names_argument(parser)
    parser.add_argument(
        "--fixtures",
        metavar="FILE",
        type=path_name,
        help="the file of the test (default: beside the pipelines)",
    )
    parser.add_argument(
        "--crash-after", metavar="POINT", choices=POINTS,
        help=f"kill -9 the last run there, and run again: {', '.join(POINTS)}",
    )  # fmt: skip
    add_format_argument(parser)


def run(arguments: argparse.Namespace) -> int:
    declared = load_file(arguments.file)
    from ottla.pipelines.trials.fixtures import default_path, load_fixtures

    path = Path(arguments.fixtures) if arguments.fixtures else default_path(arguments.file)
    with pipeline_failures():
        fixtures = load_fixtures(path, declared)
    names = chosen_names(declared, arguments.names) if arguments.names else list(fixtures)
    for name in names:
        if name not in fixtures:
            raise CommandFailed(f"{path} has no test of {name}")
    documents = []
    for name in names:
        wrong = tested(arguments, declared, name, fixtures[name])
        documents.append({"pipeline": name, "right": not wrong, "differences": wrong})
    show(arguments.format, documents, lambda: as_text(documents))
    return 0 if all(each["right"] for each in documents) else 1


def tested(
    arguments: argparse.Namespace, declared: Declaration, name: str, fixture: Fixture
) -> list[str]:
    """The differences."""
    from ottla.client.cluster.cluster import Cluster
    from ottla.client.settings import ClientSettings
    from ottla.pipelines.trials.comparing import differences
    from ottla.pipelines.trials.stage import create_inputs, moved, out_rows, produce, side_rows

    print(f"{name}: running", file=sys.stderr, flush=True)
    with TemporaryDirectory(prefix="ottla-test-") as temporary:
        directory = Path(temporary)
        with temporary_broker(directory) as servers, Cluster(ClientSettings(servers)) as cluster:
            pipeline = moved(declared, servers, directory).pipelines[name]
            with pipeline_failures():
                create_inputs(cluster, pipeline, fixture)
            for number, records in enumerate(fixture.runs):
                produce(cluster, records)
                is_last = number == len(fixture.runs) - 1
                point = arguments.crash_after if is_last else None
                if failed := run_once(arguments.file, name, servers, directory, point):
                    return failed
            with pipeline_failures():
                return [
                    *differences("out", fixture.out, out_rows(cluster, pipeline)),
                    *differences("bad", fixture.bad, side_rows(cluster, pipeline.bad)),
                    *differences("late", fixture.late, side_rows(cluster, pipeline.late)),
                ]


def run_once(file: str, name: str, servers: str, directory: Path, point: str | None) -> list[str]:
    """The failures. With a point, a process of a run is killed there, and another run follows."""
    words = [sys.executable, "-m", "ottla.pipelines.trials.run_once", file, name, servers]
    if point is not None:
        mark = directory / "died"
        died = started([*words, str(directory)], {VARIABLE: PREFIX + point, ONCE: str(mark)})
        if not mark.exists():
            return [f"the run was not killed: it did not come to {point}", *last_lines(died)]
    done = started([*words, str(directory)], {})
    if done.returncode == 0:
        return []
    return [f"the run failed: {line}" for line in last_lines(done)]


def started(words: list[str], variables: dict[str, str]) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        words,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.PIPE,
        text=True,
        check=False,
    )


def last_lines(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line for line in done.stderr.splitlines() if line.strip()][-1:]


def as_text(documents: list[dict[str, Any]]) -> str:
    lines = []
    for each in documents:
        lines.append(f"{each['pipeline']}: {'right' if each['right'] else 'WRONG'}")
        lines += [f"  {line}" for line in each["differences"]]
    return "\n".join(lines)
