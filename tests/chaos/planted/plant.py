"""A planted bug: which functions it replaces, and the run that must find it."""

from __future__ import annotations

import importlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

# The environment of `tests.chaos.planted.broker`
PLANT = "CHAOS_PLANT"
STEP = "CHAOS_STEP"


class Patch(NamedTuple):
    """`place` is a module, or a class of one: "ottla.replication.partition:Partition"."""

    place: str
    name: str
    make: Callable[[Any], Any]  # from what is there to what takes its place


@dataclass(frozen=True)
class Plant:
    text: str  # what the broker does wrong
    patches: Sequence[Patch]
    kinds: Sequence[str] = ()  # the faults of the run; without any, no run of processes finds it
    seconds: float = 45.0
    hold_s: tuple[float, float] = (2.0, 8.0)
    test: str = ""  # a test that fails with it
    expected: str = ""  # a weak sign, such as clients that end, which is what this bug must cause


def plants() -> dict[str, Plant]:
    from tests.chaos.planted.groups import GROUPS
    from tests.chaos.planted.replication import REPLICATION
    from tests.chaos.planted.storage import STORAGE
    from tests.chaos.planted.transactions import TRANSACTIONS

    return {**REPLICATION, **STORAGE, **TRANSACTIONS, **GROUPS}


def apply(name: str) -> None:
    """Change this process."""
    for patch in plants()[name].patches:
        target = target_of(patch)
        setattr(target, patch.name, patch.make(getattr(target, patch.name)))


def target_of(patch: Patch) -> Any:
    module, _, name = patch.place.partition(":")
    found = importlib.import_module(module)
    return getattr(found, name) if name else found
