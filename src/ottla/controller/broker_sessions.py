"""Fencing of brokers whose ZooKeeper session has ended.

Promises  while the controller is active, every broker that is registered and not fenced has a znode
          below `/brokers/ids` with the same incarnation; others are fenced as soon as that is seen.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping
from functools import partial

from ottla.controller.brokers import decide_fence_broker
from ottla.controller.controller import Controller
from ottla.controller.decision import Decision
from ottla.controller.state import ControllerState
from ottla.metadata.entities import BrokerRegistration
from ottla.metadata.image import Image
from ottla.metadata.zookeeper.membership import LiveBroker, read_member, read_members
from ottla.metadata.zookeeper.service import ZooKeeperService, retried
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError

log = logging.getLogger(__name__)
NOT_STORED_RETRY_S = 5.0  # an operator has to do something first


class BrokerSessions:
    def __init__(self, service: ZooKeeperService, controller: Controller) -> None:
        self._service = service
        self._controller = controller
        self._changed = asyncio.Event()

    async def fence_ended(self, image: Image) -> None:
        """Run until cancelled, or until the controller resigns."""
        while True:
            self._changed.clear()
            members = await read_members(self._service, self._changed.set)
            for broker in ended_brokers(image, members):
                log.warning("broker %d has no ZooKeeper session any more, fencing it", broker.id)
                try:
                    decide = partial(decide_fence_incarnation, broker)
                    await self._controller.decide(decide, is_large=True)
                except BrokerError as error:
                    log.info("broker %d was not fenced: %s", broker.id, error)
                    if error.code != ErrorCode.KAFKA_STORAGE_ERROR:
                        return
                    await asyncio.sleep(NOT_STORED_RETRY_S)
                    self._changed.set()
            await self._changed.wait()

    def check_again(self) -> None:
        """After a broker was unfenced: its session may have ended before that."""
        self._changed.set()

    async def has_session(self, broker_id: int, incarnation_id: bytes) -> bool:
        # The session may have begun just now, at another server than ours.
        await retried(self._service, self._service.sync)
        member = await read_member(self._service, broker_id)
        return member is not None and member.incarnation_id == incarnation_id


def ended_brokers(image: Image, members: Mapping[int, LiveBroker]) -> list[BrokerRegistration]:
    return [
        broker
        for broker in image.brokers.values()
        if not broker.is_fenced and not is_alive(broker, members)
    ]


def is_alive(broker: BrokerRegistration, members: Mapping[int, LiveBroker]) -> bool:
    member = members.get(broker.id)
    return member is not None and member.incarnation_id == broker.incarnation_id


def decide_fence_incarnation(broker: BrokerRegistration, state: ControllerState) -> Decision[None]:
    """Nothing if the broker has registered again meanwhile, or was unregistered."""
    current = state.image.broker(broker.id)
    if current is None or current.epoch != broker.epoch:
        return Decision((), None)
    return decide_fence_broker(state, broker.id)
