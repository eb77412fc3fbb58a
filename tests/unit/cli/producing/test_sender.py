from __future__ import annotations

import signal
from typing import Any

import pytest

from ottla.cli.cluster.connection import ClusterConnection
from ottla.cli.interruptions import Interrupted, interruptions
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


class InterruptedProducer(SilentProducer):
    """A signal comes while it takes a record, or while it reports the first one acknowledged."""

    def __init__(self, *, in_callback: bool) -> None:
        self._in_callback = in_callback
        self._delivered: Any = None

    def produce(self, *record: Any, **_options: object) -> None:
        self._delivered = record[-1]
        if not self._in_callback:
            signal.raise_signal(signal.SIGINT)

    def poll(self, _timeout_s: float) -> int:
        if self._in_callback:
            signal.raise_signal(signal.SIGINT)
        self._delivered(None, Acknowledged())
        return 1


class Acknowledged:
    """A record, as librdkafka reports it."""

    def topic(self) -> str:
        return "t"

    def partition(self) -> int:
        return 0

    def offset(self) -> int:
        return 0


class InterruptedConnection(ClusterConnection):
    in_callback = False

    def producer(self, **_settings: Any) -> Any:
        return InterruptedProducer(in_callback=self.in_callback)


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


@pytest.mark.parametrize("in_callback", [False, True])
def test_an_interruption_in_a_call_does_not_miscount_its_record(in_callback: bool) -> None:
    connection = InterruptedConnection("localhost:1")
    connection.in_callback = in_callback
    sender = RecordSender(
        connection, unit="line", acks="all", compression="none",
        is_short=True, batch_bytes=None,
    )  # fmt: skip
    with interruptions.raised(takes_ctrl_c=True), pytest.raises(Interrupted):
        sender._send(1, TopicRecord(b"x"))
    interruptions.last = None
    assert sender.summary() == ["1 record was acknowledged"]
