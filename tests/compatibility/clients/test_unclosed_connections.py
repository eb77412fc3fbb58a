"""aiokafka may leave a connection open when its broker dies: it is closed by the collector."""

from __future__ import annotations

import asyncio
import gc
import warnings

from aiokafka.conn import create_conn

from ottla.testing.broker import RunningBroker


def test_a_connection_that_aiokafka_leaves_open_is_closed_and_fails_no_test(
    broker: RunningBroker,
) -> None:
    async def leave_open() -> None:
        host, _, port = broker.bootstrap_servers.rpartition(":")
        connection = await create_conn(host, int(port))
        transport = connection._writer.transport
        del connection
        gc.collect()
        assert transport.is_closing()
        await asyncio.sleep(0)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ResourceWarning)
        gc.collect()  # what other tests have left, whose event loops are closed
    asyncio.run(leave_open())
