"""Requests of this broker to the controller, whichever broker that is now.

Promises  a request is repeated until a controller has answered it, or its time is up: every one of
          them may be decided twice without harm. One that is not answered is repeated as soon as
          another controller is elected. If this broker is the controller, it answers without a
          connection.
"""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any, TypeVar

from ottla.base.scheduling.gradual_event import GradualEvent
from ottla.controller.broker_requests import BrokerRequests
from ottla.controller.controller import Controller
from ottla.controller.controller_election import ControllerElection
from ottla.network.channel.channel import Channel, Channels
from ottla.network.channel.errors import ChannelError
from ottla.protocol.api_keys import APIS, ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.message import Message

T = TypeVar("T")
U = TypeVar("U")
RETRY_S = 0.02
RETRY_MAX_S = 0.2
NO_CONTROLLER = "there is no controller"


class NoAnswer(Exception):
    """There is no controller, or it has not answered: ask again."""


class ControllerClient:
    def __init__(
        self,
        controller: Controller,
        election: ControllerElection,
        broker_requests: BrokerRequests,
        channels: Channels,
        timeout_s: float,
    ) -> None:
        self._controller = controller
        self._election = election
        self._broker_requests = broker_requests
        self._channels = channels
        self.timeout_s = timeout_s
        self.reason = NO_CONTROLLER  # why the last attempt has failed
        self._moved = GradualEvent()  # set by the next election, and then replaced
        election.subscribe(self._note_moved)

    async def ask(self, request: Message) -> Any:
        """The response, which has no error. BrokerError otherwise."""

        async def here() -> Any:
            key = ApiKey(request.API_KEY)  # type: ignore[attr-defined]  # all requests have one
            return await self._broker_requests.answer(request, APIS[key].versions[-1])

        async def there(channel: Channel, timeout_s: float) -> Any:
            response = await channel.request(request, timeout_s)
            if response.error_code != ErrorCode.NONE:
                raise BrokerError(ErrorCode(response.error_code))
            return response

        return await self.repeat(here, there)

    async def repeat(
        self,
        here: Callable[[], Awaitable[T]],
        there: Callable[[Channel, float], Awaitable[U]],
    ) -> T | U:
        """The result of the first attempt that a controller has answered: `here` if it is this
        broker, `there` if it is another one."""
        loop = asyncio.get_running_loop()
        deadline_s = loop.time() + self.timeout_s
        delay_s, reason = RETRY_S, NO_CONTROLLER
        while True:
            moved = self._moved
            left_s = deadline_s - loop.time()
            if left_s <= 0:
                raise BrokerError(ErrorCode.REQUEST_TIMED_OUT, f"No controller answered: {reason}")
            try:
                if self._controller.is_active:
                    async with asyncio.timeout(left_s):  # without ZooKeeper, an append waits
                        return await here()
                return await self._unless_replaced(there, left_s)
            except NoAnswer as error:
                reason = str(error)
            except ChannelError as error:
                reason = str(error)
            except TimeoutError:
                reason = "its decision is not in the metadata log yet, or has not arrived here"
            except BrokerError as error:
                if error.code != ErrorCode.NOT_CONTROLLER:
                    raise
                reason = "it is not the controller any more"
            self.reason = reason
            await self._wait(moved, delay_s)
            delay_s = min(2 * delay_s, RETRY_MAX_S)

    async def _unless_replaced(
        self, there: Callable[[Channel, float], Awaitable[U]], timeout_s: float
    ) -> U:
        """NoAnswer as soon as another broker is elected: the one that was asked may hang."""
        asked = self._election.controller_id
        attempt = asyncio.ensure_future(there(self._channel(), timeout_s))
        replaced = asyncio.ensure_future(self._wait_for_other(asked))
        try:
            await asyncio.wait([attempt, replaced], return_when=asyncio.FIRST_COMPLETED)
            if not attempt.done():
                raise NoAnswer(f"broker {asked} has not answered, and is not the controller now")
            return attempt.result()
        finally:
            attempt.cancel()
            replaced.cancel()

    async def _wait_for_other(self, controller_id: int | None) -> None:
        while self._election.controller_id in (controller_id, None):
            await self._moved.wait()

    def _channel(self) -> Channel:
        controller_id = self._election.controller_id
        if controller_id is None:
            raise NoAnswer(NO_CONTROLLER)
        return self._channels.to(controller_id)

    async def _wait(self, moved: GradualEvent, delay_s: float) -> None:
        """Wait for the next election, or for a short time."""
        try:
            async with asyncio.timeout(delay_s):
                await moved.wait()
        except TimeoutError:
            pass

    def _note_moved(self) -> None:
        self._moved.set()
        self._moved = GradualEvent()
