"""Which of two static members with one instance id is fenced."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from tests.chaos.clients.processes import ClientProcess, end
from tests.chaos.clients.worker import FENCED, Order
from tests.chaos.faults import processes
from tests.chaos.faults.processes import is_first_to_be_fenced

Start = Callable[[str], subprocess.Popen[bytes]]
CONTINUES = "import time; time.sleep(600)"
IS_FENCED = f"raise SystemExit({FENCED})"
FAILS = "raise SystemExit(3)"


@pytest.fixture
def start() -> Iterator[Start]:
    started: list[subprocess.Popen[bytes]] = []

    def start(program: str) -> subprocess.Popen[bytes]:
        command = [sys.executable, "-c", program]
        started.append(subprocess.Popen(command, stdin=subprocess.PIPE))
        return started[-1]

    yield start
    for each in started:
        each.kill()
        end(each)


def successor(process: subprocess.Popen[bytes], directory: Path) -> ClientProcess:
    client = ClientProcess(Order("static-group", "member", "", str(directory), 1, {}))
    client.names, client._process = ["member.0", "member.1"], process
    return client


@pytest.mark.parametrize(("old", "new", "is_old"), [
    (IS_FENCED, CONTINUES, True),
    (CONTINUES, IS_FENCED, False),  # the old one has joined again as a new member, as Kafka allows
])  # fmt: skip
def test_one_of_both_is_fenced(
    start: Start, tmp_path: Path, old: str, new: str, is_old: bool
) -> None:
    assert is_first_to_be_fenced(start(old), successor(start(new), tmp_path)) is is_old


@pytest.mark.parametrize(("old", "message"), [(CONTINUES, "both continue"), (FAILS, "code 3")])
def test_anything_else_is_found(
    start: Start,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    old: str,
    message: str,
) -> None:
    monkeypatch.setattr(processes, "FENCED_S", 2.0)
    with pytest.raises(AssertionError, match=message):
        is_first_to_be_fenced(start(old), successor(start(CONTINUES), tmp_path))
