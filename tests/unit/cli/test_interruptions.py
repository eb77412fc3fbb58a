from __future__ import annotations

import logging
import signal
from collections.abc import Iterator

import pytest

from ottla.cli import interruptions as module
from ottla.cli.interruptions import Interrupted, Interruptions, hide_interrupted_calls


@pytest.fixture
def raised(monkeypatch: pytest.MonkeyPatch) -> Iterator[Interruptions]:
    """Signals of this process are raised, and come together however slow the machine is."""
    monkeypatch.setattr(module, "TOGETHER_S", 3600.0)
    interruptions = Interruptions()
    with interruptions.raised(takes_ctrl_c=True):
        yield interruptions


@pytest.mark.parametrize("first", [signal.SIGINT, signal.SIGTERM])
@pytest.mark.parametrize("second", [signal.SIGINT, signal.SIGTERM])
def test_signals_that_come_together_interrupt_once(
    raised: Interruptions, first: signal.Signals, second: signal.Signals
) -> None:
    with pytest.raises(Interrupted) as found:
        signal.raise_signal(first)
    signal.raise_signal(second)
    signal.raise_signal(second)
    assert found.value.number == first
    assert raised.last is found.value


def test_who_asks_again_later_interrupts_again(
    raised: Interruptions, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "TOGETHER_S", 0.0)
    for _ in range(2):
        with pytest.raises(Interrupted):
            signal.raise_signal(signal.SIGTERM)
    assert signal.getsignal(signal.SIGTERM) is signal.SIG_DFL, "a third one ends the process"


def test_what_must_not_be_left_half_done_is_interrupted_at_its_end(raised: Interruptions) -> None:
    done = []

    def interrupted() -> None:
        with raised.deferred:
            signal.raise_signal(signal.SIGINT)
            done.append("the rest")

    with pytest.raises(Interrupted):
        interrupted()
    assert done == ["the rest"]
    with raised.deferred:
        pass


def test_an_interrupted_call_is_not_logged_and_other_errors_are(
    caplog: pytest.LogCaptureFixture,
) -> None:
    root = logging.getLogger()
    before = list(root.filters)
    try:
        hide_interrupted_calls()
        for error in (Interrupted(15), ValueError("another")):
            try:
                raise error
            except (KeyboardInterrupt, ValueError):
                logging.exception("while sending command: %s", error)
        logging.error("without an exception")
    finally:
        root.filters[:] = before
    assert [each.getMessage() for each in caplog.records] == [
        "while sending command: another",
        "without an exception",
    ]


def test_calls_that_fail_because_one_was_interrupted_are_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    """The call was in the middle of a message, and py4j closes the connection with more calls."""
    root = logging.getLogger()
    before = list(root.filters)
    record = logging.LogRecord(
        "root", logging.INFO, "py4j/clientserver.py", 1, "while sending", (),
        (RuntimeError, RuntimeError("reentrant call"), None),
    )  # fmt: skip
    try:
        hide_interrupted_calls()
        module.interruptions.last = None
        root.handle(record)
        module.interruptions.last = Interrupted(2)
        root.handle(record)
    finally:
        module.interruptions.last = None
        root.filters[:] = before
    assert len(caplog.records) == 1
