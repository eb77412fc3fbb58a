"""Tasks end with their owner, and their failures are reported."""

import asyncio
import gc

import pytest

from ottla.base.scheduling.tasks import OwnedTasks


async def forever() -> None:
    await asyncio.Event().wait()


def test_closing_ends_what_runs_and_waits_for_it() -> None:
    ended = []

    async def slow_to_end() -> None:
        try:
            await forever()
        finally:
            await asyncio.sleep(0)
            ended.append(True)

    async def main() -> None:
        tasks = OwnedTasks()
        for _ in range(3):
            tasks.start(slow_to_end(), name="slow")
        await asyncio.sleep(0)
        await tasks.close()
        assert len(tasks) == 0

    asyncio.run(main())
    assert ended == [True] * 3


def test_what_a_task_starts_while_it_is_closed_ends_too() -> None:
    async def main() -> None:
        tasks = OwnedTasks()

        async def start_another() -> None:
            try:
                await forever()
            finally:
                tasks.start(forever(), name="another")

        tasks.start(start_another(), name="first")
        await asyncio.sleep(0)
        await tasks.close()
        assert len(tasks) == 0

    asyncio.run(main())


def test_a_failure_is_logged_under_the_tasks_name(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise ValueError("broken")

    async def main() -> None:
        tasks = OwnedTasks()
        tasks.start(fail(), name="fragile")
        while len(tasks):
            await asyncio.sleep(0)

    asyncio.run(main())
    assert "fragile" in caplog.text
    assert "broken" in caplog.text


def test_a_future_that_is_owned_is_cancelled_but_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    async def main() -> None:
        tasks, one, other = OwnedTasks(), asyncio.Future[None](), asyncio.Future[None]()
        tasks.own(one)
        tasks.own(other)
        one.set_exception(ValueError("handled by the caller"))
        assert isinstance(one.exception(), ValueError)
        await tasks.close()
        assert other.cancelled()

    asyncio.run(main())
    assert caplog.text == ""


def test_finishing_waits_without_ending_anything() -> None:
    async def main() -> None:
        tasks, ended = OwnedTasks(), []

        async def work() -> None:
            await asyncio.sleep(0)
            ended.append(True)

        tasks.start(work(), name="work")
        await tasks.finish()
        assert ended == [True]

    asyncio.run(main())


def test_the_failure_of_what_is_owned_is_its_watchers_alone() -> None:
    """A watcher sees it; where there is none, asyncio does not report it at some later time."""
    reported: list[dict[str, object]] = []

    async def fail() -> None:
        raise ValueError("broken")

    async def main() -> None:
        asyncio.get_running_loop().set_exception_handler(
            lambda _, messages: reported.append(messages)
        )
        tasks = OwnedTasks()
        tasks.own(asyncio.create_task(fail()))
        while len(tasks):
            await asyncio.sleep(0)
        gc.collect()
        assert reported == []
        watched = asyncio.create_task(fail())
        tasks.own(watched)
        with pytest.raises(ValueError, match="broken"):
            await watched

    asyncio.run(main())
