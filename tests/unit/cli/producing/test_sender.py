from __future__ import annotations

from typing import Any

import pytest

from ottla.cli.cluster.connection import ClusterConnection
from ottla.cli.producing.sender import RecordSender
from ottla.cli.records.record import TopicRecord

pytest.importorskip("confluent_kafka")


class SilentProducer:
    """librdkafka's producer, with which nothing is acknowledged."""

    def produce(self, *_record: object, **_options: object) -> None:
        pass

    def poll(self, _timeout_s: float) -> int:
        return 0

    def flush(self, _timeout_s: float) -> int:
        return 0

    def __len__(self) -> int:
        return 48  # records, and events such as errors


class SilentConnection(ClusterConnection):
    def producer(self, **_settings: Any) -> Any:
        return SilentProducer()


def test_only_records_are_counted_as_not_acknowledged_yet() -> None:
    sender = RecordSender(
        SilentConnection("localhost:1"), unit="line", acks="all", compression="none",
        is_short=True, batch_bytes=None,
    )  # fmt: skip
    for number in (1, 2, 3):
        sender._send(number, TopicRecord(b"x"))
    assert sender.summary() == [
        "0 records were acknowledged",
        "3 records were sent, but not acknowledged yet",
    ]
