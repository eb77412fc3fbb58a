"""Topic settings of the partitions on this broker.

Owns      which topics may have to decompress what is produced to them.
Promises  a changed setting applies to the next batch.
Leaves    looking up settings to `config_of`, their effect to the log.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

from ottla.base.scheduling.steps import Steps
from ottla.config.topic_options import TopicConfig
from ottla.metadata.image import Image
from ottla.metadata.records import ConfigResource, ResourceType
from ottla.replication.partition_table import PartitionTable
from ottla.storage.log.admission import may_open

ConfigOf = Callable[[str], TopicConfig]


class PartitionConfigs:
    def __init__(self, table: PartitionTable, config_of: ConfigOf) -> None:
        self.of_topic = config_of
        # Names and ids of topics whose batches may have to be decompressed: few, and looked up
        # often.
        self.opening: set[str | bytes] = set()
        self._ids: dict[str, bytes] = {}  # of topics with partitions on this broker, created or not
        self._table = table

    def changing(self, resources: Iterable[ConfigResource], image: Image) -> Steps[None]:
        """Apply changed settings, in slices. Broker settings are the defaults of topic settings."""
        topics = set()
        is_of_all = False
        for resource in resources:
            is_of_all |= resource.type == ResourceType.BROKER
            if resource.type == ResourceType.TOPIC:
                topics.add(resource.name)
            yield 0
        for topic in list(self._ids) if is_of_all else topics:
            yield from self._update(topic, image)

    def _update(self, topic: str, image: Image) -> Steps[None]:
        config = self.of_topic(topic)
        self._renew(topic, config)
        known = image.topic(topic)
        for index in range(0 if known is None else len(known.partitions)):
            partition = self._table.by_name.get((topic, index))
            if partition is not None:
                partition.log.update_config(config)
            yield 0

    def note(self, topic: str, topic_id: bytes) -> None:
        """Register a topic. Its partitions need not exist yet: the first batch creates one, and
        may be large."""
        if self._ids.get(topic) != topic_id:
            self._ids[topic] = topic_id
            self._renew(topic, self.of_topic(topic))

    def forget(self, topic: str, topic_id: bytes) -> None:
        self._ids.pop(topic, None)
        self.opening -= {topic, topic_id}

    def _renew(self, topic: str, config: TopicConfig) -> None:
        topic_id = self._ids.get(topic)
        if topic_id is None:
            return  # on other brokers
        names: set[str | bytes] = {topic, topic_id}
        if may_open(config):
            self.opening |= names
        else:
            self.opening -= names
