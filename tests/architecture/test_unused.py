"""No function, method, class or constant is left that nothing in the source uses."""

from __future__ import annotations

import ast
import re
from collections.abc import Iterable, Iterator

import pytest
from tests.architecture.sources import FILES, SOURCE, folder_of, name_of, nodes_of

pytestmark = pytest.mark.xdist_group("architecture")

GENERATED = SOURCE / "protocol" / "messages"
CODECS = {"protocol/primitives.py", "protocol/message.py"}  # generated modules call them

# By the caller, which is not in the source.
CALLED_BY = {
    "asyncio": {
        "buffer_updated", "connection_lost", "connection_made", "eof_received", "get_buffer",
        "pause_writing", "resume_writing",
    },
    "other classes of the standard library": {"_print_message", "readinto"},
    "Spark": {
        "getDefaultReadLimit", "initialOffset", "latestOffset", "prepareForTriggerAvailableNow",
        "reportLatestOffset",
    },
    "pytest": {
        "pytest_addoption", "pytest_configure", "pytest_runtest_setup",
    },
    "pyspark_ottla": {
        "batch_reader", "batch_writer", "schema_of", "stream_reader", "stream_writer",
    },
    "users of the package": {"AuditedProducer", "declare", "get_bootstrap_server"},
    "tools/ and demo/": {
        "SINK_OPTIONS", "commit_times", "read_query_progress", "reference_lines",
    },
    "tests, which look at state or need a log without a broker": {
        "NoThrottle", "RecordingListener", "assign_all", "check_entries", "connections_open",
        "end_broker_process", "expire_timers", "had_clean_shutdown", "is_dirty", "log_context",
        "name_syncs", "open_files", "publish", "stamp_offset_and_epoch", "stopped_connections",
        "take_all", "uncleanable",
    },
    "tests, so that nothing takes what is reserved for security": {"RESERVED_KINDS"},
}  # fmt: skip
IN_TESTS = "testing/"  # what it offers is used by tests


def definitions(nodes: Iterable[ast.AST]) -> Iterator[str]:
    """Names of functions, methods and classes, and of constants in capitals."""
    for node in nodes:
        match node:
            case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
                if not any(is_registration(each) for each in node.decorator_list):
                    yield node.name
            case ast.Assign(targets=[ast.Name(id=name)]) | ast.AnnAssign(target=ast.Name(id=name)):
                if name.isupper():
                    yield name


def is_registration(decorator: ast.expr) -> bool:
    """The decorator keeps the function: a handler, a fixture, a hook of pytest."""
    text = ast.unparse(decorator)
    return text.startswith(("handles", "pytest."))


def uses(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        match node:
            case ast.Name(id=name, ctx=ast.Load()) | ast.Attribute(attr=name):
                yield name
            case ast.Constant(value=str(text)) if re.fullmatch(r"[\w.:]+", text):
                yield from re.split(r"[.:]", text)


def unused(defined: Iterable[str], used: set[str]) -> set[str]:
    return {each for each in defined if each not in used and not each.startswith("__")}


def source_without_enums(path_name: str, nodes: tuple[ast.AST, ...]) -> Iterator[ast.AST]:
    """Members of an enumeration are listed completely, as Kafka has them."""
    members = {
        id(each)
        for node in nodes
        if isinstance(node, ast.ClassDef) and any("Enum" in ast.unparse(b) for b in node.bases)
        for each in node.body
    }
    return (each for each in nodes if id(each) not in members and path_name not in CODECS)


def found_unused() -> dict[str, set[str]]:
    used = {name for path in FILES for name in uses(nodes_of(path))}
    known = set().union(*CALLED_BY.values())
    found = {}
    for path in FILES:
        if path.is_relative_to(GENERATED) or name_of(path).startswith(IN_TESTS):
            continue
        nodes = source_without_enums(name_of(path), nodes_of(path))
        if names := unused(definitions(nodes), used) - known:
            found[name_of(path)] = names
    return found


def test_everything_that_is_defined_is_used() -> None:
    assert found_unused() == {}


def test_exceptions_are_still_needed() -> None:
    used = {name for path in FILES for name in uses(nodes_of(path))}
    defined = {name for path in FILES for name in definitions(nodes_of(path))}
    known = set().union(*CALLED_BY.values())
    assert known - (defined - used) == set()


# Of a class with the same name in two folders a reader must ask which one is meant.
SAME_NAME = {
    "Record": {"protocol", "testing"},  # users of the pytest plugin write `Record`
}


def test_a_name_of_a_class_stands_for_one_thing() -> None:
    where: dict[str, list[str]] = {}
    for path in FILES:
        if path.is_relative_to(GENERATED):
            continue
        for node in nodes_of(path):
            if isinstance(node, ast.ClassDef) and not node.name.startswith("_"):
                where.setdefault(node.name, []).append(folder_of(path))
    several = {name: set(folders) for name, folders in where.items() if len(folders) > 1}
    assert several == SAME_NAME


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("def used(): ...\nused()", set()),
        ("def unused(): ...", {"unused"}),
        ("class A:\n    def unused(self): ...\n    def used(self): self.used()\nA()", {"unused"}),
        ("LIMIT = 3", {"LIMIT"}),
        ("@handles(ApiKey.FETCH)\ndef fetch(): ...", set()),
        ("def named(): ...\ncall('package.module:named')", set()),
    ],
)
def test_what_is_not_used_is_found(source: str, expected: set[str]) -> None:
    nodes = list(ast.walk(ast.parse(source)))
    assert unused(definitions(nodes), set(uses(nodes))) == expected
