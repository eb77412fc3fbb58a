"""The settings of topics, as the partitions on this broker have them.

Owns      which topics may have to open what is produced to them.
Promises  a setting that has changed holds for the next batch.
Leaves    which settings a topic has to `config_of`, what they mean to the log.
"""

from __future__ import annotations

from collections.abc import Callable

from ottla.config.topic_options import TopicConfig
from ottla.metadata.records import ConfigResource, ResourceType
from ottla.replication.partition_table import PartitionTable
from ottla.storage.log.admission import may_open

ConfigOf = Callable[[str], TopicConfig]


class PartitionConfigs:
    def __init__(self, table: PartitionTable, config_of: ConfigOf) -> None:
        self.of_topic = config_of
        # Names and ids of topics whose batches may have to be opened: few, and asked often.
        self.opening: set[str | bytes] = set()
        self._ids: dict[str, bytes] = {}  # of topics that have partitions here, made or not
        self._table = table

    def changed(self, resource: ConfigResource) -> None:
        if resource.type == ResourceType.TOPIC:
            self.update(resource.name)
        elif resource.type == ResourceType.BROKER:
            self.update_all()

    def update(self, topic: str) -> None:
        config = self.of_topic(topic)
        self._renew(topic, config)
        for partition in self._table.by_name.values():
            if partition.name.topic == topic:
                partition.log.update_config(config)

    def update_all(self) -> None:
        """A broker's setting is the default of its topics'."""
        configs = {topic: self.of_topic(topic) for topic in self._ids}
        for topic, config in configs.items():
            self._renew(topic, config)
        for partition in self._table.by_name.values():
            partition.log.update_config(configs[partition.name.topic])

    def note(self, topic: str, topic_id: bytes) -> None:
        """One that is new here. None of its partitions need be made: the first batch makes its
        own, and may be large."""
        if self._ids.get(topic) != topic_id:
            self._ids[topic] = topic_id
            self._renew(topic, self.of_topic(topic))

    def forget(self, topic: str, topic_id: bytes) -> None:
        self._ids.pop(topic, None)
        self.opening -= {topic, topic_id}

    def _renew(self, topic: str, config: TopicConfig) -> None:
        topic_id = self._ids.get(topic)
        if topic_id is None:
            return  # of other brokers
        names: set[str | bytes] = {topic, topic_id}
        if may_open(config):
            self.opening |= names
        else:
            self.opening -= names
