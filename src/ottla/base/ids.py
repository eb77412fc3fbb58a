"""Distinct types for identifiers that must not be confused, and their values for "none".

Inner loops over records use plain ints; the types are used where values cross a module boundary.
"""

from typing import NamedTuple, NewType

ProducerId = NewType("ProducerId", int)
TopicId = NewType("TopicId", bytes)  # the 16 raw bytes of a UUID

NO_TOPIC_ID = TopicId(bytes(16))

# Kafka's values for what is absent or not known
NO_LEADER = -1
NO_LEADER_EPOCH = -1
NO_BROKER_EPOCH = -1
NO_PRODUCER_EPOCH = -1
NO_OFFSET = -1


class TopicPartition(NamedTuple):
    topic: str
    partition: int

    def __str__(self) -> str:
        return f"{self.topic}-{self.partition}"
