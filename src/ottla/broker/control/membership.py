"""This broker as a member of its cluster: announced in ZooKeeper, registered with the controller.

Promises  after an expired session, or if its znode was edited or removed, the broker announces
          itself again and is unfenced again, with the same broker epoch. Its registration is in
          the image before `join` returns. What the next process needs to remove its znode is
          stored before it exists: one that is killed at any time does not keep out its successor.
Leaves    what the registration contains to the caller, decisions about it to the controller.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Awaitable, Callable
from contextlib import suppress

from ottla.base.clock import Clock
from ottla.broker.control.controller_client import ControllerClient
from ottla.controller.registration import PROTOCOLS
from ottla.metadata.entities import BrokerRegistration
from ottla.metadata.publisher import Publisher
from ottla.metadata.records import Endpoint
from ottla.metadata.zookeeper.membership import (
    LiveBroker,
    announce,
    require_unused_addresses,
)
from ottla.metadata.zookeeper.service import ChrootMissing, ZnodeRefused, ZooKeeperService
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.broker_heartbeat_request import BrokerHeartbeatRequest
from ottla.protocol.messages.broker_heartbeat_response import BrokerHeartbeatResponse
from ottla.protocol.messages.broker_registration_request import BrokerRegistrationRequest

log = logging.getLogger(__name__)

RETRY_S = 0.2
MENDED_RETRY_S = 5.0  # an operator has to do something first
REMINDER_S = 3.0  # a start that takes longer says what it waits for
NEVER = -1  # no id of a session
NOT_ANSWERED = ErrorCode.REQUEST_TIMED_OUT
REPEATED = (ErrorCode.DUPLICATE_BROKER_REGISTRATION, NOT_ANSWERED)


class BrokerMembership:
    def __init__(
        self,
        request: BrokerRegistrationRequest,
        service: ZooKeeperService,
        publisher: Publisher,
        client: ControllerClient,
        clock: Clock,
        keep_session: Callable[[], Awaitable[None]],
    ) -> None:
        """`keep_session` stores the session and the incarnation for the next process."""
        self._request = request
        self._service = service
        self._publisher = publisher
        self._client = client
        self._clock = clock
        self._keep_session = keep_session
        self._changed = asyncio.Event()
        self._announced_in = NEVER
        self._announcing = asyncio.Lock()
        self._is_leaving = False
        self.broker_epoch = -1

    async def join(self, timeout_s: float) -> None:
        """BrokerIdInUse, AddressInUse or BrokerError if the broker cannot join.

        The time of one request is no limit: a cluster that starts has no controller for some time.
        """
        loop = asyncio.get_running_loop()
        reminder = loop.call_later(REMINDER_S, self._report_waiting)
        deadline_s = loop.time() + timeout_s
        try:
            await require_unused_addresses(self._service, self._member())
            while not await self._is_registered(deadline_s):
                await asyncio.sleep(RETRY_S)
        finally:
            reminder.cancel()

    async def _is_registered(self, deadline_s: float) -> bool:
        """False if the session has expired between both steps, or if no controller has answered and
        there is time left."""
        await self._announce()
        try:
            await self._register()
        except BrokerError as error:
            is_late = asyncio.get_running_loop().time() >= deadline_s
            if error.code not in REPEATED or (is_late and error.code == NOT_ANSWERED):
                raise
            return False
        return True

    def _report_waiting(self) -> None:
        log.warning("waiting until the controller registers this broker: %s", self._client.reason)

    def check(self) -> None:
        """The session, or the registration of a broker, may have changed."""
        self._changed.set()

    async def stay(self) -> None:
        """Run until cancelled. BrokerIdInUse if another process has this broker's id."""
        while not self._is_leaving:
            self._changed.clear()
            try:
                registration = self._registration()
                if registration is None or registration.is_fenced:
                    self._announced_in = NEVER  # the znode may have been removed
                if not self._is_announced():
                    await self._announce()
                if registration is None:
                    await self._register()
                await self.unfence()
            except BrokerError as error:
                log.warning("not registered with the controller: %s", error)
                await asyncio.sleep(RETRY_S)
                continue
            except (ChrootMissing, ZnodeRefused) as error:
                log.error("this broker is not announced: %s", error)
                await asyncio.sleep(MENDED_RETRY_S)
                continue
            await self._changed.wait()
        await asyncio.Event().wait()

    async def begin_serving(self) -> None:
        """Be unfenced, however long the controller takes: the broker may be needed."""
        while not self._is_leaving and self._is_fenced():
            try:
                if not self._is_announced():
                    await self._announce()
                await self.unfence()
            except BrokerError as error:
                log.warning("waiting until the controller unfences this broker: %s", error)
            if self._is_fenced():
                await asyncio.sleep(RETRY_S)

    async def unfence(self) -> None:
        """Until the znode is lost, if it is: `stay` writes it again. BrokerError if no controller
        has answered."""
        while not self._is_leaving and self._is_fenced() and self._is_announced():
            await self.heartbeat()
            await self._wait_until_unfenced()

    async def _wait_until_unfenced(self) -> None:
        """Wait for the image, which is usually some milliseconds behind the response, but not for
        long: the session may have ended."""
        with suppress(TimeoutError):
            async with asyncio.timeout(RETRY_S):
                while self._is_fenced() and not self._is_leaving:
                    await self._publisher.wait_for(self._publisher.image.offset + 1)

    async def leave(self) -> None:
        """Hand over leaderships. BrokerError if there is no controller."""
        self._is_leaving = True
        while not (await self.heartbeat(wants_to_stop=True)).should_shut_down:
            await asyncio.sleep(RETRY_S)

    async def heartbeat(
        self, *, wants_to_stop: bool = False, offline: list[bytes] | None = None
    ) -> BrokerHeartbeatResponse:
        response: BrokerHeartbeatResponse = await self._client.ask(
            BrokerHeartbeatRequest(
                self._request.broker_id,
                self.broker_epoch,
                self._publisher.image.offset,
                want_shut_down=wants_to_stop,
                offline_log_dirs=offline or [],
            )
        )
        return response

    async def report_offline(self, directory_ids: list[bytes]) -> None:
        """Repeat the request until the controller has answered."""
        while not self._is_leaving:
            try:
                await self.heartbeat(offline=directory_ids)
                return
            except BrokerError as error:
                log.warning("offline directories are not known to the controller: %s", error)
                await asyncio.sleep(RETRY_S)

    async def _announce(self) -> None:
        async with self._announcing:  # by `stay` and `begin_serving`: one file has the session
            if not self._is_announced():
                await self._write_znode()

    async def _write_znode(self) -> None:
        session_id = self._service.session.id
        await self._keep_session()  # before there is a znode that the next process has to remove
        self._announced_in = session_id  # not later: `_note_znode` may be called before it returns
        try:
            await announce(self._service, self._member(), self._clock.now_ms(), self._note_znode)
        except BaseException:
            self._announced_in = NEVER
            raise

    def _member(self) -> LiveBroker:
        request = self._request
        endpoints = (
            Endpoint(each.name, each.host, each.port, PROTOCOLS[each.security_protocol])
            for each in request.listeners
        )
        return LiveBroker(request.broker_id, request.incarnation_id, tuple(endpoints), request.rack)

    def _note_znode(self) -> None:
        """The znode was edited or removed, or its session has ended."""
        self._announced_in = NEVER
        self._changed.set()

    async def _register(self) -> None:
        response = await self._client.ask(self._request)
        self.broker_epoch = response.broker_epoch
        await self._publisher.wait_for(self.broker_epoch + 1)

    def _registration(self) -> BrokerRegistration | None:
        """None if this process is not the one that is registered."""
        found = self._publisher.image.broker(self._request.broker_id)
        is_own = found is not None and found.incarnation_id == self._request.incarnation_id
        return found if is_own else None

    def _is_announced(self) -> bool:
        return self._announced_in == self._service.session.id

    def _is_fenced(self) -> bool:
        registration = self._registration()
        return registration is not None and registration.is_fenced
