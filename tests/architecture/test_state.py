"""The state of a log and of a partition is changed in the modules that own it, by methods.

Every other module reads these attributes, and calls a method to change them: so an invariant such
as `start <= high watermark <= end` has one place that keeps it.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from functools import cache

import pytest
from tests.architecture.sources import FILES, SOURCE, by_folder, name_of, nodes_of

pytestmark = pytest.mark.xdist_group("architecture")

# By module, the classes whose attributes no other module assigns.
OWNERS = {
    "storage/log/log.py": {"Log"},
    "storage/log/log_context.py": {"LogContext"},
    "storage/log/log_epochs.py": {"LogEpochs"},
    "storage/log/log_files.py": {"LogFiles"},
    "storage/log/log_health.py": {"LogHealth"},
    "storage/log/log_offsets.py": {"LogOffsets"},
    "storage/log/log_producers.py": {"LogProducers"},
    "storage/log/log_topic_id.py": {"LogTopicId"},
    "storage/log/replacement.py": {"Swap", "Swaps"},
    "storage/log/unsynced.py": {"Unsynced"},
    "storage/segments/segment.py": {"Segment"},
    "replication/fetch_notifications.py": {"FetchNotifications"},
    "replication/follower_role.py": {"FollowerRole"},
    "replication/leader_role.py": {"LeaderRole"},
    "replication/partition.py": {"Partition"},
    "replication/replica.py": {"Replica"},
    "replication/partition_state.py": {"LeaderState"},
}
# In these folders an attribute of that name is taken for one of them. In others, where messages
# have attributes of the same names, only if the expression contains one of `ACCESSES`.
FOLDERS = {"storage", "replication", "broker"}
ACCESSES = {
    "context", "health", "leader_state", "log", "offsets", "partition", "partition_log",
    "producers", "replica", "role", "unread", "unsynced",
}  # fmt: skip


def assigned(nodes: Iterable[ast.AST]) -> Iterator[ast.Attribute]:
    """Every attribute that a module assigns or deletes, `setattr` with a constant name included."""
    for node in nodes:
        if isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store | ast.Del):
            yield node
        elif isinstance(node, ast.Call) and identifier_of(node.func) in ("setattr", "__setattr__"):
            for argument in node.args[:2]:
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str):
                    yield ast.Attribute(node.args[0], argument.value, ast.Store())


def identifier_of(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def is_own(attribute: ast.Attribute) -> bool:
    return isinstance(attribute.value, ast.Name) and attribute.value.id == "self"


def is_access(node: ast.AST) -> bool:
    return not ACCESSES.isdisjoint(identifier_of(each).lstrip("_") for each in ast.walk(node))


def attributes_of(module: str, classes: set[str]) -> set[str]:
    found = [
        node
        for node in nodes_of(SOURCE / module)
        if isinstance(node, ast.ClassDef) and node.name in classes
    ]
    assert {node.name for node in found} == classes, f"{module} has other classes"
    fields = {
        each.target.id
        for node in found
        for each in node.body
        if isinstance(each, ast.AnnAssign) and isinstance(each.target, ast.Name)
    }
    return fields | {
        each.attr for node in found for each in assigned(ast.walk(node)) if is_own(each)
    }


@cache
def state() -> dict[str, set[str]]:
    return {module: attributes_of(module, classes) for module, classes in OWNERS.items()}


def intrusions(module: str, nodes: Iterable[ast.AST]) -> list[str]:
    """Assignments of one module to attributes that another one owns."""
    found = list(assigned(nodes))
    owned = {name for owner, names in state().items() if owner != module for name in names}
    # A private attribute of the same name as one of the module's own classes is that of its class.
    owned -= {each.attr for each in found if is_own(each) and each.attr.startswith("_")}
    return [
        ast.unparse(each)
        for each in found
        if not is_own(each)
        and each.attr in owned - state().get(module, set())
        and (module.partition("/")[0] in FOLDERS or is_access(each.value))
    ]


MODULES = by_folder(FILES)


@pytest.mark.parametrize("folder", MODULES)
def test_no_module_assigns_the_state_of_a_log_or_a_partition_but_its_owner(folder: str) -> None:
    for path in MODULES[folder]:
        assert not intrusions(name_of(path), nodes_of(path)), name_of(path)


@pytest.mark.parametrize(
    "planted",
    [
        "log.offsets.end = 3",
        "log.offsets.recovery_point += 1",
        "self._log.config = config",
        "partition.log.unsynced.has_names, other = True, 1",
        "for log.offsets.start in range(3): pass",
        "del partition.role",
        "setattr(log, 'segments', None)",
        "object.__setattr__(log.health, 'is_closed', True)",
        "partition.leadership = decided",
        "directory.context.listener = listener",
    ],
)
def test_an_assignment_from_another_module_is_found(planted: str) -> None:
    nodes = list(ast.walk(ast.parse(planted)))
    assert intrusions("storage/log/append.py", nodes)
    assert intrusions("handlers/produce.py", nodes)


def test_the_state_is_found() -> None:
    found = state()
    assert {"end", "high_watermark", "recovery_point", "start"} <= found[
        "storage/log/log_offsets.py"
    ]
    assert {"health", "listener", "start"} <= found["storage/log/log_context.py"]
    assert {"config", "offsets", "segments"} <= found["storage/log/log.py"]
    assert {"leadership", "log"} <= found["replication/replica.py"]
    assert "role" in found["replication/partition.py"]
