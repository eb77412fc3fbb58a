"""Modules that a library imports and a command may never use."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

from ottla.cli.cluster.deferred_imports import deferred_import

NAME = "module_of_a_test"


@pytest.fixture(autouse=True)
def module(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / f"{NAME}.py").write_text("value = 1\n")
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, NAME, raising=False)


def imported() -> ModuleType:
    import module_of_a_test  # type: ignore[import-not-found]

    return module_of_a_test  # type: ignore[no-any-return]


def test_a_module_is_loaded_when_it_is_used_first() -> None:
    with deferred_import(NAME):
        deferred = imported()
    assert NAME not in sys.modules
    assert deferred.value == 1
    assert sys.modules[NAME].value == 1
    assert sys.modules[NAME] is not deferred


def test_a_module_may_be_used_within_the_block() -> None:
    with deferred_import(NAME):
        assert imported().value == 1
        loaded = sys.modules[NAME]
    assert sys.modules[NAME] is loaded


def test_what_it_does_not_have_is_no_attribute() -> None:
    with deferred_import(NAME):
        deferred = imported()
    assert not hasattr(deferred, "other")


def test_a_loaded_module_is_used_as_it_is() -> None:
    loaded = imported()
    with deferred_import(NAME):
        assert imported() is loaded
    assert imported() is loaded
