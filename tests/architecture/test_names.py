"""One name means one thing: no two classes of the source have the same name."""

from __future__ import annotations

import ast

import pytest
from tests.architecture.sources import FILES, SOURCE, name_of, nodes_of

pytestmark = pytest.mark.xdist_group("architecture")

GENERATED = SOURCE / "protocol" / "messages"  # names of Kafka's schemas
# Names that have two meanings, and where.
SHARED = {
    "Record": {"protocol/records/record.py", "testing/records.py"},  # the second in users' tests
}


def classes_by_name() -> dict[str, set[str]]:
    found: dict[str, set[str]] = {}
    for path in FILES:
        if not path.is_relative_to(GENERATED):
            for node in nodes_of(path):
                if isinstance(node, ast.ClassDef):
                    found.setdefault(node.name, set()).add(name_of(path))
    return found


def test_classes_have_different_names() -> None:
    found = classes_by_name()
    assert {name: modules for name, modules in found.items() if len(modules) > 1} == SHARED
