"""A whole broker in this process that can be stopped or killed, and started again on its files."""

from __future__ import annotations

import asyncio
from random import Random

from tests.unit.handlers.world import World

from ottla.broker.broker import Broker
from ottla.handlers.serving.dispatch import Dispatcher


class RestartingWorld(World):
    def kill(self) -> None:
        """End as SIGKILL does: nothing is written any more."""

        async def end() -> None:
            self.broker.network.stop_accepting()
            others = asyncio.all_tasks() - {asyncio.current_task()}
            for task in others:
                task.cancel()
            await asyncio.gather(*others, return_exceptions=True)

        self.loop.run_until_complete(end())
        self.disk.kill()
        self._start_again()

    def stop(self) -> None:
        """An orderly end."""
        self.loop.call_soon(self.broker.network.stop_accepting)
        self.run(self.broker.close())
        self._start_again()

    def _start_again(self) -> None:
        ended = self.broker
        self.broker = Broker(ended.settings, files=self.disk, clock=self.clock, rng=Random(7))
        self.run(self.broker.open())
        self.dispatcher = Dispatcher(self.broker.parts)
