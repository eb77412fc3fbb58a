"""The settings of topics, as the partitions on this broker have them.

Owns      which topics may have to open what is produced to them.
Promises  a setting that has changed holds for the next batch.
Leaves    which settings a topic has to `config_of`, what they mean to the log.
"""

from __future__ import annotations

from collections.abc import Callable

from ottla.config.topic_options import TopicConfig
from ottla.metadata.records import ConfigResource, ResourceType
from ottla.replication.partition import Partition
from ottla.replication.partition_table import PartitionTable

ConfigOf = Callable[[str], TopicConfig]


class PartitionConfigs:
    def __init__(self, table: PartitionTable, config_of: ConfigOf) -> None:
        self.of_topic = config_of
        # Names and ids of topics whose batches may have to be opened: few, and asked often.
        self.opening: set[str | bytes] = set()
        self._table = table

    def changed(self, resource: ConfigResource) -> None:
        if resource.type == ResourceType.TOPIC:
            self.update(resource.name)
        elif resource.type == ResourceType.BROKER:
            self.update_all()

    def update(self, topic: str) -> None:
        config = self.of_topic(topic)
        for partition in self._table.by_name.values():
            if partition.name.topic == topic:
                self._update(partition, config)

    def update_all(self) -> None:
        """A broker's setting is the default of its topics'."""
        configs: dict[str, TopicConfig] = {}
        for partition in self._table.by_name.values():
            topic = partition.name.topic
            config = configs.get(topic) or configs.setdefault(topic, self.of_topic(topic))
            self._update(partition, config)

    def note(self, partition: Partition) -> None:
        """One that is new, or has other settings than before."""
        names: set[str | bytes] = {partition.name.topic, partition.topic_id}
        if partition.log.rules.may_open:
            self.opening |= names
        else:
            self.opening -= names

    def forget(self, topic: str, topic_id: bytes) -> None:
        self.opening -= {topic, topic_id}

    def _update(self, partition: Partition, config: TopicConfig) -> None:
        partition.log.update_config(config)
        self.note(partition)
