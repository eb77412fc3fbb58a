"""What clients chose is escaped where it is logged: `shown(group_id)`."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

import pytest
from tests.architecture.sources import FILES, by_folder, folder_of, name_of, nodes_of
from tests.architecture.test_regular_expressions import BROKER

pytestmark = pytest.mark.xdist_group("architecture")

LOGGERS = {"log", "logger"}
METHODS = {"debug", "info", "warning", "error", "exception", "critical", "log", "write"}
# Names of what a client may have filled with anything. A topic's name is checked before it is one.
FROM_CLIENTS = {
    "client_host", "client_id", "config_name", "feature", "group_id", "group_instance_id", "host",
    "instance_id", "member_id", "pattern", "principal", "protocol_name", "rack_id",
    "regex", "software_name", "software_version", "transactional_id", "user",
}  # fmt: skip
ESCAPING = {"shown", "text_shown"}


MODULES = by_folder(path for path in FILES if folder_of(path) in BROKER)


@pytest.mark.parametrize("folder", MODULES)
def test_text_of_clients_is_escaped_where_it_is_logged(folder: str) -> None:
    for path in MODULES[folder]:
        assert not list(raw_in_logs(nodes_of(path))), name_of(path)


@pytest.mark.parametrize("argument", ["group_id", "group.group_id", "f'{each.member_id}'"])
def test_text_that_is_not_escaped_is_found(argument: str) -> None:
    assert list(raw_in_logs(ast.walk(ast.parse(f"log.info('%s', {argument})"))))
    assert list(raw_in_logs(ast.walk(ast.parse(f"log.info('%s', shown({argument}))")))) == []


def raw_in_logs(nodes: Iterable[ast.AST]) -> Iterator[str]:
    for node in nodes:
        if isinstance(node, ast.Call) and is_log_call(node.func):
            for argument in node.args[1:]:
                yield from raw_names(argument)


def is_log_call(function: ast.expr) -> bool:
    return (
        isinstance(function, ast.Attribute)
        and function.attr in METHODS
        and isinstance(function.value, ast.Name)
        and function.value.id in LOGGERS
    )


def raw_names(node: ast.AST) -> Iterator[str]:
    """Names from clients that are in no call of `shown`."""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in ESCAPING:
        return
    name = node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", None)
    if name in FROM_CLIENTS:
        yield ast.unparse(node)
    for child in ast.iter_child_nodes(node):
        yield from raw_names(child)
