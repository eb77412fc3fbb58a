"""Where work leaves the event loop for a thread, and where a read of a file may block it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.architecture import sources
from tests.architecture.sources import by_folder, folder_of, name_of, nodes_of

pytestmark = pytest.mark.xdist_group("architecture")

BROKER = ("base", "broker", "controller", "coordinators", "handlers", "metadata", "replication")
FILES = [path for path in sources.FILES if folder_of(path) in (*BROKER, "storage")]

THREADS = {"to_thread", "run_in_executor", "ThreadPoolExecutor", "Thread"}
THREADS_MODULE = "base/scheduling/threads.py"

# Modules of the event loop that read with BLOCKING, and why no client waits for the disk.
MAY_BLOCK = {
    "coordinators/transactions/verifying.py": "the produce request has loaded the producers",
    "replication/partition_placement.py": "partitions are opened before clients use them",
    "replication/replica_manager.py": "logs on disk are identified at the start",
}


@cache
def names_in(path: Path) -> frozenset[str]:
    return frozenset(name for node in nodes_of(path) for name in names_of(node))


def names_of(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.Attribute):
        yield node.attr
    elif isinstance(node, ast.Name):
        yield node.id
    elif isinstance(node, ast.ImportFrom):
        yield from (each.name for each in node.names)


def test_threads_are_used_in_one_module() -> None:
    users = {name_of(path) for path in FILES if THREADS & names_in(path)}
    assert users == {THREADS_MODULE}


def test_the_event_loop_reads_no_file_with_a_reader_that_blocks() -> None:
    """In storage the caller passes the reader; it blocks itself only where it changes files."""
    users = {name_of(path) for path in FILES if "BLOCKING" in names_in(path)}
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


MODULES = by_folder(FILES)


@pytest.mark.parametrize("folder", MODULES)
def test_a_function_that_is_given_a_reader_reads_with_that_one(folder: str) -> None:
    for path in MODULES[folder]:
        check_readers(path)


def check_readers(path: Path) -> None:
    for node in nodes_of(path):
        if not isinstance(node, ast.FunctionDef):
            continue
        arguments = {each.arg for each in node.args.args}
        if "reader" in arguments and node.name not in READS_WHAT_IT_FETCHED:
            lines = [use.lineno for use in uses_of(node)]
            assert not lines, f"{name_of(path)}: {node.name} reads with BLOCKING in line {lines[0]}"
