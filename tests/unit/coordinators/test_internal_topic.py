"""The creation of an internal topic, for which all requests wait."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable

from ottla.base.scheduling.callback_queue import TASKS_MAX
from ottla.coordinators.internal_topic import InternalTopic
from ottla.metadata.image import Image
from ottla.protocol.error_codes import ErrorCode

MANY = 20 * TASKS_MAX


class Creator:
    def __init__(self) -> None:
        self.may_end = asyncio.Event()
        self.created = 0
        self.error: Exception | None = None

    async def create(self, _names: Iterable[str]) -> dict[str, ErrorCode]:
        self.created += 1
        await self.may_end.wait()
        if self.error is not None:
            raise self.error
        return {}


def test_few_of_very_many_requests_continue_in_an_iteration_of_the_event_loop() -> None:
    async def story() -> None:
        creator, continued = Creator(), list[int]()
        topic = InternalTopic(Image(), "t", 1, creator.create)

        async def wait(number: int) -> None:
            await topic.ensure()
            continued.append(number)

        waiting = [asyncio.create_task(wait(number)) for number in range(MANY)]
        await asyncio.sleep(0)
        creator.may_end.set()
        while len(continued) < MANY:
            before = len(continued)
            await asyncio.sleep(0)
            assert len(continued) - before <= 2 * TASKS_MAX
        await asyncio.gather(*waiting)
        assert creator.created == 1

    asyncio.run(story())


def test_a_bug_in_the_creation_reaches_all_that_wait_and_the_next_one_tries_again() -> None:
    async def story() -> None:
        creator = Creator()
        creator.error = KeyError("a bug")
        creator.may_end.set()
        topic = InternalTopic(Image(), "t", 1, creator.create)
        results = await asyncio.gather(topic.ensure(), topic.ensure(), return_exceptions=True)
        assert [type(each) for each in results] == [KeyError, KeyError]
        creator.error = None
        await topic.ensure()
        assert creator.created == 2

    asyncio.run(story())
