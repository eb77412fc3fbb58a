"""Automatic creation of topics: on first use by a client, and internal topics.

Owns      their properties: the broker's defaults, and Kafka's settings for internal topics.
Promises  concurrent requests cause one creation and share its outcome.
Leaves    placement and naming rules to the controller.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterable, Sequence

from ottla.broker.control.control_plane import ControlPlane
from ottla.config.broker_options import BrokerConfig
from ottla.handlers.serving.parts import TopicCreator
from ottla.metadata import topic_names
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.protocol.messages.create_topics_request import (
    CreatableTopic,
    CreatableTopicConfig,
    CreateTopicsRequest,
)

BROKER_DEFAULT = -1
# Until the partitions of these topics can be used.
WaitForTopics = Callable[[Sequence[str]], Awaitable[None]]


class AutomaticTopics:
    def __init__(
        self,
        config: BrokerConfig,
        control: ControlPlane,
        waits: Sequence[WaitForTopics],
    ) -> None:
        self._config = config
        self._control = control
        self._waits = waits

    async def create(
        self, names: Iterable[str], creator: TopicCreator | None = None
    ) -> dict[str, ErrorCode]:
        """Create the topics that do not exist; returns those that could not be created, with the
        errors."""
        request = CreateTopicsRequest([self.wanted(name) for name in names], timeout_ms=30_000)
        try:
            answer = await self._control.create_topics(request, creator)
            for wait in self._waits:
                await wait([topic.name for topic in request.topics])
        except BrokerError as error:
            return {topic.name: error.code for topic in request.topics}
        codes = {topic.name: ErrorCode(topic.error_code) for topic in answer.topics}
        fine = (ErrorCode.NONE, ErrorCode.TOPIC_ALREADY_EXISTS)
        return {name: creation_error(code) for name, code in codes.items() if code not in fine}

    def wanted(self, name: str) -> CreatableTopic:
        config = self._config
        match name:
            case topic_names.GROUP_OFFSETS:
                return internal_topic(
                    name,
                    config.offsets_topic_num_partitions,
                    config.offsets_topic_replication_factor,
                    {
                        "cleanup.policy": "compact",
                        "compression.type": "producer",
                        "segment.bytes": str(config.offsets_topic_segment_bytes),
                    },
                )
            case topic_names.TRANSACTION_STATE:
                return internal_topic(
                    name,
                    config.transaction_state_log_num_partitions,
                    config.transaction_state_log_replication_factor,
                    {
                        "cleanup.policy": "compact",
                        "compression.type": "uncompressed",
                        "min.insync.replicas": str(config.transaction_state_log_min_isr),
                        "segment.bytes": str(config.transaction_state_log_segment_bytes),
                        "unclean.leader.election.enable": "false",
                    },
                )
        return CreatableTopic(name, BROKER_DEFAULT, BROKER_DEFAULT)


def internal_topic(
    name: str, partitions: int, replicas: int, settings: dict[str, str]
) -> CreatableTopic:
    configs = [CreatableTopicConfig(key, value) for key, value in settings.items()]
    return CreatableTopic(name, partitions, replicas, configs=configs)


def creation_error(code: ErrorCode) -> ErrorCode:
    """The error for a client that requested metadata of a topic."""
    if code in (ErrorCode.NOT_CONTROLLER, ErrorCode.REQUEST_TIMED_OUT):
        return ErrorCode.LEADER_NOT_AVAILABLE
    if code == ErrorCode.THROTTLING_QUOTA_EXCEEDED:
        return ErrorCode.UNKNOWN_TOPIC_OR_PARTITION
    return code
