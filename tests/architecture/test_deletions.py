"""Files of partitions are removed in one place, and for a reason that is made in one place.

Another way to remove a partition directory, or to make the evidence that a topic was deleted,
fails here: `docs/decisions/0007-what-may-be-deleted.md` says why.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from tests.architecture import sources
from tests.architecture.sources import by_folder, folder_of, name_of, tree_of

pytestmark = pytest.mark.xdist_group("architecture")
FOLDER = "storage/directories"
DELETIONS = f"{FOLDER}/directory_deletions.py"
STRAYS = f"{FOLDER}/directory_strays.py"
SETTLEMENT = f"{FOLDER}/startup_settlement.py"

# What may be called or named, and by which functions alone.
ALLOWED = {
    # The evidence is made where the record of a deletion is applied.
    "TopicDeletion": {("metadata/topic_table.py", "note_deleted")},
    "ReplicaRemoval": {("metadata/image.py", "deletion_evidence")},
    # A log becomes `-delete` where the reason has been checked.
    "_begin_deleting": {(DELETIONS, "begin")},
    "DirectoryMark.DELETE": {
        (DELETIONS, "_begin_deleting"),
        (STRAYS, "delete_found"),
        (f"{FOLDER}/directory_loading.py", "_is_aside"),
        (f"{FOLDER}/log_manager.py", "take_back"),
        (SETTLEMENT, "_delete_found"),
    },
    "delete_found": {(SETTLEMENT, "_delete_found")},
    # What is removed as a whole directory was queued there.
    "_queue_removal": {(DELETIONS, "_begin_deleting"), (DELETIONS, "resume_removal")},
    "resume_removal": {(STRAYS, "resume_deletion")},
    "resume_deletion": {(STRAYS, "delete_found"), (SETTLEMENT, "_delete_found")},
    "is_directory=True": {(DELETIONS, "_queue_removal")},
    "remove_directory": {("storage/log/deletion.py", "_remove_directory")},
    "rmtree": {("base/files/disk.py", "remove_directory")},
}
OUTSIDE = {"testing", "spark", "client", "protocol"}  # these touch no directory of a broker


@cache
def uses(path: Path) -> list[tuple[str, str]]:
    """(what, in which function) for everything in `ALLOWED` that is called or named."""

    def walk(node: ast.AST, function: str) -> Iterator[tuple[str, str]]:
        for child in ast.iter_child_nodes(node):
            inside = child.name if isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef) else ""
            if isinstance(child, ast.Call):
                yield identifier_of(child.func), function
                yield from (
                    (f"{each.arg}=True", function)
                    for each in child.keywords
                    if isinstance(each.value, ast.Constant) and each.value.value is True
                )
            elif isinstance(child, ast.Attribute):
                yield f"{identifier_of(child.value)}.{child.attr}", function
                yield child.attr, function
            yield from walk(child, inside or function)

    return [(used, function) for used, function in walk(tree_of(path), "") if used in ALLOWED]


def identifier_of(node: ast.AST) -> str:
    if isinstance(node, ast.Attribute):
        return node.attr
    return node.id if isinstance(node, ast.Name) else ""


FILES = [path for path in sources.FILES if folder_of(path) not in OUTSIDE]


MODULES = by_folder(FILES)


@pytest.mark.parametrize("folder", MODULES)
def test_nothing_removes_partitions_but_where_a_reason_was_checked(folder: str) -> None:
    for path in MODULES[folder]:
        for used, function in uses(path):
            place = (name_of(path), function)
            assert place in ALLOWED[used], f"{used} in {function or 'the module'} of {place[0]}"


def test_every_place_that_is_allowed_is_still_there() -> None:
    found = {(used, name_of(path), function) for path in FILES for used, function in uses(path)}
    for used, places in ALLOWED.items():
        for name, function in places:
            assert (used, name, function) in found, f"{used} is not in {function} of {name}"
