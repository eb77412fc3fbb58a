"""When to try again."""

from __future__ import annotations

import pytest

from ottla.client.cluster import retries as retries_module
from ottla.client.cluster.retries import Reaction, Retries, backoff_ms, reaction_to
from ottla.client.errors import ConnectionLost, GaveUp
from ottla.client.settings import ClientSettings
from ottla.protocol.error_codes import ErrorCode


def test_waits_double_up_to_a_limit_and_are_spread() -> None:
    assert [backoff_ms(attempt, 100, 1000, 0.5) for attempt in range(6)] == [
        100, 200, 400, 800, 1000, 1000,
    ]  # fmt: skip
    assert backoff_ms(0, 100, 1000, 0.0) == pytest.approx(80)
    assert backoff_ms(0, 100, 1000, 1.0) == pytest.approx(120)
    assert backoff_ms(10_000, 100, 1000, 0.5) == 1000
    assert backoff_ms(3, 0, 1000, 0.5) == 0


@pytest.mark.parametrize(
    ("code", "reaction"),
    [
        (ErrorCode.NOT_LEADER_OR_FOLLOWER, Reaction.REFRESH),
        (ErrorCode.FENCED_LEADER_EPOCH, Reaction.REFRESH),
        (ErrorCode.UNKNOWN_TOPIC_ID, Reaction.REFRESH),
        (ErrorCode.NOT_COORDINATOR, Reaction.REFRESH),
        (ErrorCode.NOT_CONTROLLER, Reaction.REFRESH),
        (ErrorCode.COORDINATOR_LOAD_IN_PROGRESS, Reaction.RETRY),
        (ErrorCode.CONCURRENT_TRANSACTIONS, Reaction.RETRY),
        (ErrorCode.UNKNOWN_LEADER_EPOCH, Reaction.RETRY),
        (ErrorCode.NOT_ENOUGH_REPLICAS, Reaction.RETRY),
        (ErrorCode.OFFSET_OUT_OF_RANGE, Reaction.FAIL),
        (ErrorCode.TOPIC_AUTHORIZATION_FAILED, Reaction.FAIL),
        (ErrorCode.INVALID_PRODUCER_EPOCH, Reaction.FAIL),
        (ErrorCode.UNKNOWN_SERVER_ERROR, Reaction.FAIL),
    ],
)
def test_every_code_calls_for_something(code: ErrorCode, reaction: Reaction) -> None:
    assert reaction_to(code) is reaction


def test_patience_ends_with_what_stood_in_the_way_last() -> None:
    retries = Retries("Fetch of t-0", ClientSettings("a:1", retry_backoff_ms=0), timeout_ms=0)
    with pytest.raises(GaveUp, match=r"Fetch of t-0: gave up .* last: Fetch at a:1: connection"):
        retries.pause(ConnectionLost("a:1", "Fetch", "reset"))


def test_progress_renews_patience() -> None:
    retries = Retries("x", ClientSettings("a:1", retry_backoff_ms=0), timeout_ms=100_000)
    retries.pause("first")
    retries.renew()
    assert retries.left_ms > 90_000


class Clock:
    """The functions of `time` that are used there."""

    now_s = 0.0

    def monotonic(self) -> float:
        return self.now_s

    def sleep(self, _seconds: float) -> None:
        pass


def test_failures_that_last_are_logged_and_so_is_their_end(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    clock = Clock()
    monkeypatch.setattr(retries_module, "time", clock)
    retries = Retries("Metadata", ClientSettings("a:1"), timeout_ms=60_000)
    for clock.now_s in (0.5, 1.9):
        retries.pause("refused")
    retries.note_success()
    assert not caplog.messages, "what passes at once is not worth a line"
    for clock.now_s in (2.1, 3.0, 16.0, 18.0):
        retries.pause("refused")
    assert caplog.messages == [
        "Metadata: has failed for 2.1 s, trying again for another 58 s: refused",
        "Metadata: has failed for 18.0 s, trying again for another 42 s: refused",
    ]
    clock.now_s = 20.0
    retries.renew()
    retries.renew()
    assert caplog.messages[2:] == ["Metadata: works again, after 20.0 s"]
    clock.now_s = 21.0
    retries.pause("refused")
    assert len(caplog.messages) == 3, "the time counts from the last success"
