"""Which deadline counts for what a connection is doing."""

from dataclasses import replace

from ottla.network.settings import ConnectionSettings
from ottla.network.timeouts import Activity, Reason, deadline_of

SETTINGS = ConnectionSettings(
    idle_ms=600_000, frame_ms=30_000, frame_bytes_per_s_min=1000, unread_ms=60_000
)
QUIET = Activity(
    active_s=100.0, has_requests=False, frame_since_s=None, frame_bytes=0, unsent_since_s=None
)


def test_a_quiet_connection_may_be_idle_for_its_time() -> None:
    assert deadline_of(QUIET, SETTINGS) == (700.0, Reason.IDLE)


def test_without_a_limit_a_quiet_connection_is_never_idle_for_too_long() -> None:
    assert deadline_of(QUIET, replace(SETTINGS, idle_ms=-1)) is None


def test_a_connection_with_requests_is_not_idle() -> None:
    assert deadline_of(replace(QUIET, has_requests=True), SETTINGS) is None


def test_an_incomplete_frame_has_its_own_deadline_even_while_requests_run() -> None:
    activity = replace(QUIET, has_requests=True, frame_since_s=200.0, frame_bytes=10)
    assert deadline_of(activity, SETTINGS) == (230.01, Reason.FRAME)


def test_bytes_that_arrive_buy_time_at_the_slowest_rate() -> None:
    activity = replace(QUIET, frame_since_s=200.0, frame_bytes=100_000)
    assert deadline_of(activity, SETTINGS) == (330.0, Reason.FRAME)


def test_unread_answers_count_instead_of_idleness() -> None:
    activity = replace(QUIET, active_s=0.0, unsent_since_s=1000.0)
    assert deadline_of(activity, SETTINGS) == (1060.0, Reason.UNREAD)


def test_the_earliest_deadline_counts() -> None:
    activity = replace(QUIET, frame_since_s=1000.0, unsent_since_s=990.0)
    assert deadline_of(activity, SETTINGS) == (1030.0, Reason.FRAME)
