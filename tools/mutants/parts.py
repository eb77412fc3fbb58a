"""The parts of the code that mutants are planted in, and the tests that have to notice.

A part is judged by its own tests alone: what only the tests of another part would notice is a gap.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from tools.mutants.mutant import Mutant, find_mutants

SOURCE = Path("src/ottla")


@dataclass(frozen=True)
class Part:
    name: str  # the folder below src/ottla
    tests: tuple[str, ...]

    @property
    def recorded(self) -> str:
        """The folder of all parts that have the same tests: which lines those run is recorded
        once for all of them."""
        return self.name if self.name in OTHER_TESTS else self.name.partition("/")[0]

    def files(self, root: Path) -> list[Path]:
        folder = root / SOURCE / self.name
        if not folder.is_dir():
            raise LookupError(f"no folder {folder}")
        return sorted(folder.rglob("*.py"))

    def mutants(self, root: Path) -> list[Mutant]:
        return [mutant for path in self.files(root) for mutant in find_mutants(path, root)]


# Where the tests of a part are more than `tests/unit/` and the first folder of its name.
OTHER_TESTS = {
    "replication": ("tests/unit/replication", "tests/unit/handlers/test_alter_replica_log_dirs.py"),
    "spark/sink": (
        "tests/unit/spark/sink",
        "tests/integration/spark/sink/test_driver.py",
        "tests/integration/spark/sink/test_random_writes.py",
        "tests/integration/spark/sink/test_writers.py",
    ),
}

PARTS = (
    "storage/producers",
    "storage/log",
    "replication",
    "coordinators/transactions",
    "coordinators/groups",
    "controller",
    "metadata",
    "spark/sink",
)


def part_named(name: str) -> Part:
    """Any folder below src/ottla; its tests are those of the first folder in its name."""
    name = name.strip("/")
    return Part(name, OTHER_TESTS.get(name, (f"tests/unit/{name.partition('/')[0]}",)))


def parts_named(names: Iterable[str]) -> list[Part]:
    return [part_named(name) for name in names or PARTS]
