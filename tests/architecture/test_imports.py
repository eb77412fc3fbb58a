"""A folder imports folders with a smaller number, never its equals or what lies above."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "src" / "ottla"

LEVELS = {
    "cli": 11, "testing": 11,
    "console": 10, "pipelines": 10,
    "broker": 9, "spark": 9,
    "handlers": 8, "client": 8,
    "coordinators": 7, "controller": 7,
    "replication": 6,
    "metadata": 5, "network": 5,
    "security": 4, "storage": 4,
    "config": 3,
    "protocol": 2,
    "base": 1,
}  # fmt: skip
OVER_THE_WIRE = {"client", "console", "spark", "pipelines"}  # these reach a broker by socket only
BROKER_SIDE = {"broker", "handlers", "coordinators", "controller", "replication", "storage"}
STORAGE_ORDER = ["files", "indexes", "segments", "producers", "log", "directories", "compaction"]
PURE_NAMES = {"state.py", "partition_state.py"}
IMPURE = {"asyncio", "socket", "threading", "os", "time", "random"}

FILES = sorted(SOURCE.rglob("*.py"))


def imported_modules(path: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path}: relative import"
            yield node.module or ""


def folder_of(path: Path) -> str:
    parts = path.relative_to(SOURCE).parts
    return parts[0] if len(parts) > 1 else ""


def folders_imported(path: Path) -> set[str]:
    modules = [name.split(".") for name in imported_modules(path)]
    return {name[1] for name in modules if name[0] == "ottla" and len(name) > 1}


def test_every_folder_has_a_level() -> None:
    folders = {path.name for path in SOURCE.iterdir() if path.is_dir()} - {"__pycache__"}
    assert folders <= LEVELS.keys()


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(SOURCE)))
def test_imports_point_down(path: Path) -> None:
    own = folder_of(path)
    for other in folders_imported(path) - {own}:
        assert own, f"{path.name} at the top imports {other}"
        assert LEVELS[other] < LEVELS[own], f"{own} (level {LEVELS[own]}) imports {other}"
        assert not (own in OVER_THE_WIRE and other in BROKER_SIDE), f"{own} imports {other}"


@pytest.mark.parametrize(
    "path",
    [p for p in FILES if folder_of(p) == "protocol" or p.name in PURE_NAMES],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_pure_modules_touch_no_clock_disk_or_network(path: Path) -> None:
    used = {name.split(".")[0] for name in imported_modules(path)}
    assert not used & IMPURE


@pytest.mark.parametrize(
    "path",
    [p for p in FILES if p.parent.name in STORAGE_ORDER and folder_of(p) == "storage"],
    ids=lambda path: str(path.relative_to(SOURCE)),
)
def test_storage_is_built_from_files_up_to_directories(path: Path) -> None:
    above = STORAGE_ORDER[STORAGE_ORDER.index(path.parent.name) + 1 :]
    modules = [name.split(".") for name in imported_modules(path)]
    used = {name[2] for name in modules if name[:2] == ["ottla", "storage"] and len(name) > 2}
    assert not used & set(above)
