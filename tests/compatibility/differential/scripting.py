"""What a script is: a function that sends requests to a broker in one version of an API.

    @script(ApiKey.LIST_OFFSETS)
    def list_offsets(session: Session) -> None:
        topic = session.topic("a")
        session.ask("the latest", ListOffsetsRequest(...))

It is run once for every version, with topic names of its own, against Apache Kafka when its
answers are recorded and against our broker when they are compared. It must not matter which other
scripts were run before; what it needs of the broker it declares, see `BrokerState`.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Sequence
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ottla.protocol.api_keys import APIS, ApiKey

if TYPE_CHECKING:
    from tests.compatibility.differential.session import Session

ONCE = secrets.token_hex(3)  # so that scripts can be run again on a broker that knows them
SCRIPTS_FOLDER = Path(__file__).parent / "scripts"


class BrokerState(Enum):
    """In what state a script finds its broker."""

    UNTOUCHED = "nobody has asked for a coordinator, so there are no internal topics"
    READY = "coordinators, their topics and producer ids are there"


class Script(NamedTuple):
    name: str
    key: ApiKey
    versions: Sequence[int]
    function: Callable[[Session], None]
    broker_state: BrokerState


class Run(NamedTuple):
    """One script in one version."""

    script: Script
    version: int

    @property
    def name(self) -> str:
        return f"{self.script.name} v{self.version}"

    @property
    def prefix(self) -> str:
        """What the names of its topics and groups begin with: nobody else's, on any broker."""
        return f"{self.script.name.replace('_', '-')}-{self.version}-{ONCE}-"


_scripts: dict[str, Script] = {}


def script(
    key: ApiKey,
    versions: Sequence[int] | None = None,
    broker_state: BrokerState = BrokerState.READY,
) -> Callable[[Callable[[Session], None]], Callable[[Session], None]]:
    """Declare a script, for all stable versions of its API unless it names its own."""

    def register(function: Callable[[Session], None]) -> Callable[[Session], None]:
        name = function.__name__
        assert name not in _scripts, f"two scripts are called {name}"
        chosen = APIS[key].stable_versions if versions is None else tuple(versions)
        _scripts[name] = Script(name, key, chosen, function, broker_state)
        return function

    return register


@cache
def all_scripts() -> dict[str, Script]:
    for path in sorted(SCRIPTS_FOLDER.glob("*.py")):
        import_module(f"tests.compatibility.differential.scripts.{path.stem}")
    return dict(_scripts)


def all_runs() -> list[Run]:
    return [Run(each, version) for each in all_scripts().values() for version in each.versions]
