"""The controller of a cluster: every broker takes part in its election, and one runs it.

Promises  the controller is active only while this broker holds the claim of the last election, and
          after its image contains everything that earlier controllers have appended. Whatever it
          decides after it was replaced is refused by the log. A log without a record begins with
          those of a new cluster.
Leaves    the election itself to `metadata/zookeeper/election.py`; following the log, which the
          broker does whether it is the controller or not.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from functools import partial

from ottla.base.clock import Clock
from ottla.base.scheduling.tasks import first_to_end
from ottla.controller.broker_sessions import BrokerSessions
from ottla.controller.controller import Controller, Resigned
from ottla.controller.decision import Decision
from ottla.controller.new_cluster import decide_new_cluster
from ottla.controller.periodic_elections import PeriodicElections
from ottla.controller.state import ControllerState
from ottla.metadata.publisher import Publisher
from ottla.metadata.zookeeper.claim import Claim
from ottla.metadata.zookeeper.election import (
    UNKNOWN,
    elect,
    holds_controller,
    read_controller,
    resign,
)
from ottla.metadata.zookeeper.service import SessionState, ZnodeRefused, ZooKeeperService
from ottla.metadata.zookeeper.zookeeper_log import ZooKeeperMetadataLog
from ottla.protocol.errors import BrokerError

log = logging.getLogger(__name__)
REFUSED_RETRY_S = 5.0  # an operator has to do something first


class ControllerElection:
    def __init__(
        self,
        service: ZooKeeperService,
        metadata_log: ZooKeeperMetadataLog,
        controller: Controller,
        publisher: Publisher,
        broker_id: int,
        clock: Clock,
        *,
        sessions: BrokerSessions | None = None,
        new_cluster_id: Callable[[], str] | None = None,
    ) -> None:
        self._service = service
        self._log = metadata_log
        self._controller = controller
        self._publisher = publisher
        self._broker_id = broker_id
        self._clock = clock
        self._sessions = sessions or BrokerSessions(service, controller)
        self._elections = PeriodicElections(controller, controller.config)
        self._new_cluster_id = new_cluster_id
        self._changed = asyncio.Event()  # the controller's znode, or the session
        self._listeners: list[Callable[[], None]] = []
        self.controller_id: int | None = None  # as last read; None if there is none
        service.subscribe(self._note_session)

    def subscribe(self, listener: Callable[[], None]) -> None:
        """Call `listener` after every change of `controller_id`."""
        self._listeners.append(listener)

    async def run(self) -> None:
        """Take part in elections until cancelled."""
        while True:
            try:
                await self._take_part()
            except ZnodeRefused as error:
                log.error("no part in elections of the controller until this is mended: %s", error)
                await asyncio.sleep(REFUSED_RETRY_S)

    async def _take_part(self) -> None:
        await self._wait_for_vacancy()
        known_epoch = self._publisher.image.controller_epoch
        claim = await elect(self._service, self._broker_id, self._clock, known_epoch)
        if claim is not None:
            await self._serve(claim)

    async def _wait_for_vacancy(self) -> None:
        while True:
            self._changed.clear()
            found = await read_controller(self._service, self._changed.set)
            self._note_controller(None if found == UNKNOWN else found)
            if found is None:
                return
            await self._changed.wait()

    async def _serve(self, claim: Claim) -> None:
        log.info("elected controller with epoch %d", claim.controller_epoch)
        self._changed.clear()
        try:
            await first_to_end(self._control(claim), self._wait_for_end(claim))
        except Resigned:
            pass  # it has logged why
        except ZnodeRefused:
            await resign(self._service)  # else no broker would be elected
            raise
        finally:
            self._log.end_claim()
            self._note_controller(None)
        await resign(self._service)

    async def _control(self, claim: Claim) -> None:
        await self._catch_up(claim)
        self._controller.activate(self._publisher.image.copy(), claim.controller_epoch)
        await first_to_end(self._controller.run(), self._lead())

    async def _lead(self) -> None:
        image = self._publisher.image
        if image.offset == 0 and self._new_cluster_id is not None:
            cluster_id = self._new_cluster_id()
            await self._controller.decide(partial(begin_cluster, cluster_id))
            log.warning(
                "created a new cluster at %s, with the id %s; correct zookeeper.connect if there "
                "should have been one", self._service.address, cluster_id,
            )  # fmt: skip
        self._note_controller(self._broker_id)
        try:
            await first_to_end(self._sessions.fence_ended(image), self._elections.run())
        except BrokerError as error:
            log.info("the controller decides nothing more: %s", error)

    async def _catch_up(self, claim: Claim) -> None:
        """Publish what was appended before the election. No other broker can append after it."""
        while not self._log.is_claimed:
            await self._publisher.catch_up(self._log, partial(self._log.begin, claim))

    async def _wait_for_end(self, claim: Claim) -> None:
        """Return when the controller's znode is not ours any more."""
        while await holds_controller(self._service, claim, self._changed.set):
            await self._changed.wait()
            self._changed.clear()

    def _note_session(self, _state: SessionState) -> None:
        self._changed.set()

    def _note_controller(self, broker_id: int | None) -> None:
        if broker_id != self.controller_id:
            self.controller_id = broker_id
            for listener in self._listeners:
                listener()


def begin_cluster(cluster_id: str, state: ControllerState) -> Decision[None]:
    return Decision(decide_new_cluster(cluster_id, state.static), None)
