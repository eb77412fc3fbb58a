from __future__ import annotations

import asyncio

import pytest
from tests.support.virtual_time import run_in_virtual_time

from ottla.broker.control.connection_reports import REMINDER_S, ConnectionReports
from ottla.metadata.zookeeper.service import SessionState


def test_a_connection_that_stays_away_is_reported_again(caplog: pytest.LogCaptureFixture) -> None:
    async def story() -> None:
        reports = ConnectionReports("zoo:2181/ottla")
        reports.note(SessionState.DISCONNECTED)
        assert "no connection to ZooKeeper at zoo:2181/ottla" in caplog.text
        assert "restarted" not in caplog.text
        await asyncio.sleep(REMINDER_S + 1)
        assert "still no connection to ZooKeeper at zoo:2181/ottla" in caplog.text
        assert "restarted" in caplog.text

    run_in_virtual_time(story())


@pytest.mark.parametrize("is_closed", [False, True], ids=["connected", "closed"])
def test_a_connection_that_is_back_is_not(
    caplog: pytest.LogCaptureFixture, *, is_closed: bool
) -> None:
    async def story() -> None:
        reports = ConnectionReports("zoo:2181/ottla")
        reports.note(SessionState.DISCONNECTED)
        reports.note(SessionState.EXPIRED)
        if is_closed:
            reports.close()
        else:
            reports.note(SessionState.CONNECTED)
        await asyncio.sleep(2 * REMINDER_S)
        assert "still" not in caplog.text

    run_in_virtual_time(story())
