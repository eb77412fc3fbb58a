"""Where work leaves the event loop for a thread, and where a read of a file may block it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "ottla"
BROKER = ("base", "broker", "controller", "coordinators", "handlers", "metadata", "replication")
FILES = sorted(path for folder in (*BROKER, "storage") for path in (SOURCE / folder).rglob("*.py"))

THREADS = {"to_thread", "run_in_executor", "ThreadPoolExecutor", "Thread"}
THREADS_MODULE = "base/scheduling/threads.py"

# Modules of the event loop that read with BLOCKING, and why no client waits for the disk.
MAY_BLOCK = {
    "coordinators/transactions/verifying.py": "the produce request has loaded the producers",
    "replication/partition_placement.py": "partitions are opened before clients use them",
    "replication/replica_manager.py": "logs on disk are identified at the start",
}


def names_in(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.ImportFrom):
            yield from (each.name for each in node.names)


def name_of(path: Path) -> str:
    return path.relative_to(SOURCE).as_posix()


def test_threads_are_used_in_one_module() -> None:
    users = {name_of(path) for path in FILES if THREADS & set(names_in(path))}
    assert users == {THREADS_MODULE}


def test_the_event_loop_reads_no_file_with_a_reader_that_blocks() -> None:
    """In storage the caller passes the reader; it blocks itself only where it changes files."""
    users = {name_of(path) for path in FILES if "BLOCKING" in set(names_in(path))}
    outside = {each for each in users if not each.startswith(("base/", "storage/"))}
    assert outside == set(MAY_BLOCK)


def uses_of(function: ast.FunctionDef) -> Iterator[ast.Name]:
    """Uses of BLOCKING in a function, except in the arguments of a job: `partial(f, BLOCKING)`."""
    given = {
        id(argument)
        for node in ast.walk(function)
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)
        if node.func.id == "partial"
        for argument in node.args
    }
    for node in ast.walk(function):
        if isinstance(node, ast.Name) and node.id == "BLOCKING" and id(node) not in given:
            yield node


# What was fetched before, all at once, is scanned as a whole: these change files afterwards.
READS_WHAT_IT_FETCHED = {"rebuild_indexes", "rebuild_transactions"}


@pytest.mark.parametrize("path", FILES, ids=name_of)
def test_a_function_that_is_given_a_reader_reads_with_that_one(path: Path) -> None:
    for node in ast.walk(ast.parse(path.read_text())):
        if not isinstance(node, ast.FunctionDef):
            continue
        arguments = {each.arg for each in node.args.args}
        if "reader" in arguments and node.name not in READS_WHAT_IT_FETCHED:
            lines = [use.lineno for use in uses_of(node)]
            assert not lines, f"{name_of(path)}: {node.name} reads with BLOCKING in line {lines[0]}"
