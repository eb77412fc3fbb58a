"""Commands that talk to a broker, called in this process: quick, and the code is the same."""

from __future__ import annotations

import io
import itertools
import json
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

import pytest

from ottla.cli.cluster import connection
from ottla.cli.main import main
from ottla.testing.broker import RunningBroker

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def document(self) -> Any:
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        return self.out.splitlines()


Command = Callable[..., Result]
CommandFor = Callable[[str], Command]


@pytest.fixture(scope="session")
def shared_broker() -> Iterator[RunningBroker]:
    with RunningBroker() as running:
        yield running


@pytest.fixture
def command(shared_broker: RunningBroker, command_for: CommandFor) -> Command:
    """Runs a command against the shared broker: `command("topics", "list")`."""
    return command_for(shared_broker.bootstrap_servers)


@pytest.fixture
def command_for(
    capfdbinary: pytest.CaptureFixture[bytes], monkeypatch: pytest.MonkeyPatch
) -> CommandFor:
    """Commands for the cluster at an address, which has more time than people have."""
    monkeypatch.setattr(connection, "TIMEOUT_S", 120.0)

    def run(*words: str, stdin: bytes = b"") -> Result:
        monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(stdin)))
        capfdbinary.readouterr()
        code = main(words)
        out, err = capfdbinary.readouterr()
        return Result(code, out.decode(), err.decode())

    def command_for(address: str) -> Command:
        monkeypatch.setenv("OTTLA_BOOTSTRAP", address)
        return run

    return command_for


@pytest.fixture
def topic(command: Command) -> str:
    """An empty topic with one partition, for this test alone."""
    name = f"topic-{next(_numbers)}"
    assert command("topics", "create", name, "-p", "1").code == 0
    return name


@pytest.fixture
def environment(shared_broker: RunningBroker) -> dict[str, str]:
    """For commands that run as processes of their own."""
    return {"OTTLA_BOOTSTRAP": shared_broker.bootstrap_servers}


@pytest.fixture
def group() -> str:
    """A unique name of a group."""
    return f"group-{next(_numbers)}"
