"""A log directory that fails while a broker of a cluster starts."""

from __future__ import annotations

import asyncio
import errno
import logging
from collections.abc import Awaitable, Callable, Iterator

import pytest
from tests.scenarios.stage import READY_S, Stage
from tests.simulation.cluster.network import SimulatedLoop
from tests.simulation.cluster.process import track_tasks

CLUSTER = {"brokers": "1,2,3", "topic": "t", "partitions": "4", "directories": "2"}


@pytest.fixture(autouse=True)
def _quiet() -> Iterator[None]:
    logging.disable(logging.CRITICAL)
    yield
    logging.disable(logging.NOTSET)


def run(story: Callable[[Stage], Awaitable[None]]) -> None:
    async def whole() -> None:
        loop = asyncio.get_running_loop()
        assert isinstance(loop, SimulatedLoop)
        track_tasks(loop)
        loop.set_exception_handler(lambda _loop, _context: None)  # of processes that have ended
        stage = Stage(loop, CLUSTER, 1)
        await stage.open()
        try:
            await story(stage)
        finally:
            await stage.close()

    with asyncio.Runner(loop_factory=SimulatedLoop) as runner:
        runner.run(whole())


def test_a_directory_that_fails_while_partitions_are_placed_is_reported() -> None:
    """The log of a topic that was created meanwhile cannot be created."""

    async def story(stage: Stage) -> None:
        await stage.stop(2)
        await stage.client.create_topic("late", {0: [1, 2, 3]}, "1")
        stage._disks[2].fail("make_directory", "*/late-0", error=errno.EIO)
        stage.start(2)
        assert await stage.until(lambda: stage.processes[2].is_ready, READY_S)
        assert len(stage.processes[2].broker.logs.online) == 1

        def is_known() -> bool:
            broker = None if stage.image is None else stage.image.broker(2)
            return broker is not None and len(broker.log_directories) == 1

        assert await stage.until(is_known, READY_S)

    run(story)
