"""Requests of brokers to the controller: registration, heartbeats, producer ids, replicas.

Promises  a broker registers, and is unfenced, only with a ZooKeeper session; its later requests
          must have its broker epoch.
Leaves    the decisions to the `decide_*` functions.
"""

from __future__ import annotations

from ottla.controller.alter_partition import decide_alter_partition
from ottla.controller.assign_directories import decide_assign_directories
from ottla.controller.broker_sessions import BrokerSessions
from ottla.controller.brokers import (
    decide_controlled_shutdown,
    decide_directories_offline,
    decide_fence_broker,
    decide_heartbeat,
    decide_register_broker,
    decide_unfence_broker,
)
from ottla.controller.controller import Controller
from ottla.controller.producer_ids import decide_allocate_producer_ids
from ottla.metadata.image import Image
from ottla.metadata.zookeeper.layout import broker_path
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.message import Message
from ottla.protocol.messages.allocate_producer_ids_request import AllocateProducerIdsRequest
from ottla.protocol.messages.allocate_producer_ids_response import AllocateProducerIdsResponse
from ottla.protocol.messages.alter_partition_request import AlterPartitionRequest
from ottla.protocol.messages.alter_partition_response import AlterPartitionResponse
from ottla.protocol.messages.assign_replicas_to_dirs_request import AssignReplicasToDirsRequest
from ottla.protocol.messages.assign_replicas_to_dirs_response import AssignReplicasToDirsResponse
from ottla.protocol.messages.broker_heartbeat_request import BrokerHeartbeatRequest
from ottla.protocol.messages.broker_heartbeat_response import BrokerHeartbeatResponse
from ottla.protocol.messages.broker_registration_request import BrokerRegistrationRequest
from ottla.protocol.messages.broker_registration_response import BrokerRegistrationResponse

MANY = 50  # partitions; more are decided in a thread


class BrokerRequests:
    def __init__(self, controller: Controller, sessions: BrokerSessions, image: Image) -> None:
        self._controller = controller
        self._sessions = sessions
        self._image = image  # the published one

    async def answer(self, request: Message, version: int) -> Message:
        """BrokerError if the whole request is refused."""
        match request:
            case BrokerRegistrationRequest():
                return await self.register(request)
            case BrokerHeartbeatRequest():
                return await self.heartbeat(request)
            case AllocateProducerIdsRequest():
                return await self.allocate_producer_ids(request)
            case AssignReplicasToDirsRequest():
                return await self.assign_directories(request)
            case AlterPartitionRequest():
                return await self.alter_partition(request, version)
        raise BrokerError(ErrorCode.INVALID_REQUEST, f"{type(request).__name__} is not served here")

    async def register(self, request: BrokerRegistrationRequest) -> BrokerRegistrationResponse:
        """The broker stays fenced until it has applied its own registration."""
        if not await self._sessions.has_session(request.broker_id, request.incarnation_id):
            raise BrokerError(
                ErrorCode.DUPLICATE_BROKER_REGISTRATION,
                f"the znode {broker_path(request.broker_id)} does not belong to this broker",
            )
        epoch = await self._controller.decide(
            lambda state: decide_register_broker(state, request, has_session=False),
            is_large=True,
        )
        return BrokerRegistrationResponse(broker_epoch=epoch)

    async def heartbeat(self, request: BrokerHeartbeatRequest) -> BrokerHeartbeatResponse:
        """Sent when something has changed; whether a broker is alive is known from ZooKeeper."""
        broker_id, epoch = request.broker_id, request.broker_epoch
        may_stop = False
        if request.offline_log_dirs:
            offline = request.offline_log_dirs
            await self._controller.decide(
                lambda state: decide_directories_offline(state, broker_id, epoch, offline),
                is_large=True,
            )
        if request.want_shut_down:
            may_stop = await self._controller.decide(
                lambda state: decide_controlled_shutdown(state, broker_id, epoch),
                is_large=True,
                is_confirmed=True,
            )
        elif request.want_fence:
            await self._controller.decide(
                lambda state: decide_fence_broker(state, broker_id, epoch), is_large=True
            )
        elif request.current_metadata_offset > epoch:
            await self._controller.decide(
                lambda state: decide_unfence_broker(state, broker_id, epoch), is_large=True
            )
            self._sessions.check_again()
        else:
            await self._controller.decide(lambda state: decide_heartbeat(state, broker_id, epoch))
        broker = self._image.broker(broker_id)
        return BrokerHeartbeatResponse(
            is_caught_up=request.current_metadata_offset > epoch,
            is_fenced=broker is None or broker.is_fenced,
            should_shut_down=may_stop,
        )

    async def allocate_producer_ids(
        self, request: AllocateProducerIdsRequest
    ) -> AllocateProducerIdsResponse:
        return await self._controller.decide(
            lambda state: decide_allocate_producer_ids(state, request)
        )

    async def assign_directories(
        self, request: AssignReplicasToDirsRequest
    ) -> AssignReplicasToDirsResponse:
        return await self._controller.decide(
            lambda state: decide_assign_directories(state, request), is_large=True
        )

    async def alter_partition(
        self, request: AlterPartitionRequest, version: int
    ) -> AlterPartitionResponse:
        count = sum(len(topic.partitions) for topic in request.topics)
        return await self._controller.decide(
            lambda state: decide_alter_partition(state, request, version),
            is_large=count > MANY,
            is_confirmed=True,
        )
