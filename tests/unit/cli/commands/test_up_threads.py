"""How `ottla up` sets up its process before the event loop runs."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Coroutine, Iterator
from pathlib import Path

import pytest

from ottla.cli.commands import up


@pytest.fixture
def kept_interval() -> Iterator[None]:
    before_s = sys.getswitchinterval()
    yield
    sys.setswitchinterval(before_s)


@pytest.mark.usefixtures("kept_interval")
def test_the_event_loop_does_not_wait_long_for_a_busy_thread(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    seen_s: list[float] = []

    def note(_loop: str, _serving: Callable[[], Coroutine[object, object, int]]) -> int:
        seen_s.append(sys.getswitchinterval())
        return 0

    monkeypatch.setattr(up, "run_on", note)
    monkeypatch.setattr(up, "keep_freed_memory", lambda: True)
    monkeypatch.setattr(up, "raise_open_files_limit", lambda: None)
    parser = argparse.ArgumentParser()
    up.add_arguments(parser)
    assert up.run(parser.parse_args(["--data", str(tmp_path)])) == 0
    assert seen_s == [pytest.approx(up.THREAD_SWITCH_S)]
    assert up.THREAD_SWITCH_S <= 0.001
