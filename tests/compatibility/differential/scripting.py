"""What a script is: a function that sends requests to a broker in one version of an API.

    @script(ApiKey.LIST_OFFSETS)
    def list_offsets(session: Session) -> None:
        topic = session.topic("a")
        session.ask("the latest", ListOffsetsRequest(...))

It is run once for every version, with topic names of its own, against Apache Kafka when its
answers are recorded and against our broker when they are compared. It must not matter which other
scripts were run before; what it needs of the broker it declares, see `BrokerState`.

A script about several brokers (`cluster_script`) may be a generator: one of the brokers is stopped
at its first `yield`, and serves again at its second.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator, Sequence
from enum import Enum
from functools import cache
from importlib import import_module
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from ottla.protocol.api_keys import APIS, ApiKey

if TYPE_CHECKING:
    from tests.compatibility.differential.cluster_session import ClusterSession
    from tests.compatibility.differential.session import Session

ONCE = secrets.token_hex(3)  # so that scripts can be run again on a broker that knows them
SCRIPTS_FOLDER = Path(__file__).parent / "scripts"
CLUSTER_SCRIPTS_FOLDER = Path(__file__).parent / "cluster_scripts"
CLUSTER = 3


class BrokerState(Enum):
    """In what state a script finds its broker."""

    UNTOUCHED = "no client has asked for a coordinator, so there are no internal topics"
    READY = "coordinators, their topics and producer ids are there"


class Script(NamedTuple):
    name: str
    key: ApiKey
    versions: Sequence[int]
    function: Callable[..., Iterator[None] | None]  # of a Session, or of a ClusterSession
    broker_state: BrokerState
    brokers: int = 1


class Run(NamedTuple):
    """One script in one version."""

    script: Script
    version: int

    @property
    def name(self) -> str:
        return f"{self.script.name} v{self.version}"

    @property
    def prefix(self) -> str:
        """The prefix of the names of its topics and groups. It is unique on any broker."""
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


def cluster_script(
    key: ApiKey, versions: Sequence[int] | None = None
) -> Callable[
    [Callable[[ClusterSession], Iterator[None] | None]],
    Callable[[ClusterSession], Iterator[None] | None],
]:
    """Declare a script about three brokers."""

    def register(
        function: Callable[[ClusterSession], Iterator[None] | None],
    ) -> Callable[[ClusterSession], Iterator[None] | None]:
        add_cluster_script(function.__name__, key, function, versions)
        return function

    return register


def add_cluster_script(
    name: str,
    key: ApiKey,
    function: Callable[[ClusterSession], Iterator[None] | None],
    versions: Sequence[int] | None = None,
) -> None:
    """In the oldest and the newest version: those between are about what one broker answers."""
    name = f"cluster_{name}"
    assert name not in _scripts, f"two scripts are called {name}"
    stable = APIS[key].stable_versions
    chosen = tuple(sorted({stable[0], stable[-1]}) if versions is None else versions)
    _scripts[name] = Script(name, key, chosen, function, BrokerState.READY, CLUSTER)


@cache
def all_scripts(brokers: int = 1) -> dict[str, Script]:
    """Those about one broker, or about a cluster of so many."""
    for folder in (SCRIPTS_FOLDER, CLUSTER_SCRIPTS_FOLDER):
        for path in sorted(folder.glob("*.py")):
            import_module(f"tests.compatibility.differential.{folder.name}.{path.stem}")
    return {name: each for name, each in _scripts.items() if each.brokers == brokers}


def all_runs(brokers: int = 1) -> list[Run]:
    scripts = all_scripts(brokers).values()
    return [Run(each, version) for each in scripts for version in each.versions]
