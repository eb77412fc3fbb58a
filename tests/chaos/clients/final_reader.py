"""The last consumer of a run: reads every partition from the beginning to its end."""

from __future__ import annotations

import time
from collections.abc import Mapping
from pathlib import Path

from confluent_kafka import Consumer, KafkaError, TopicPartition
from tests.chaos.checker.history import Read
from tests.chaos.clients.values import decode
from tests.chaos.recording import Recorder

POLLED_MAX = 500


class FinalReader:
    def __init__(self, bootstrap: str, directory: Path, name: str) -> None:
        self._consumer = Consumer(
            {
                "log_level": 0,
                "bootstrap.servers": bootstrap,
                "client.id": name,
                "group.id": name,
                "isolation.level": "read_committed",
                "auto.offset.reset": "earliest",
                "enable.auto.commit": False,
                "enable.partition.eof": True,
            }
        )
        self._recorder = Recorder(directory / f"{name}.jsonl")
        self._ended: set[str] = set()
        self.next_offsets: dict[str, int] = {}  # after the last value of each key

    def read(self, topics: Mapping[str, int], patience_s: float) -> list[str]:
        """All that is there; the partitions whose end was not reached in time."""
        keys = [(topic, at) for topic, count in topics.items() for at in range(count)]
        wanted = {f"{topic}-{at}" for topic, at in keys}
        self._consumer.assign([TopicPartition(topic, at, 0) for topic, at in keys])
        self._recorder.assigned()
        end_s = time.monotonic() + patience_s
        while self._ended < wanted and time.monotonic() < end_s:
            self._poll()
        self._consumer.close()
        self._recorder.close()
        return [f"the end of {key} was not reached" for key in sorted(wanted - self._ended)]

    def _poll(self) -> None:
        reads = list[Read]()
        for message in self._consumer.consume(POLLED_MAX, 1.0):
            key = f"{message.topic()}-{message.partition()}"
            error = message.error()
            if error is None:
                offset = message.offset() or 0
                reads.append(Read(key, offset, decode(message.value())))
                self.next_offsets[key] = offset + 1
                self._ended.discard(key)
            elif error.code() == KafkaError._PARTITION_EOF:
                self._ended.add(key)
            else:
                self._recorder.note(f"{error}")
        if reads:
            self._recorder.polled(reads)
