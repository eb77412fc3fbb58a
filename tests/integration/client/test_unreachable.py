"""Brokers that cannot be reached: said early in the log, and in the end by a clear error."""

from __future__ import annotations

import logging
import threading
import time

import pytest
from tests.integration.client.helpers import new_topic, produce
from tests.support.waiting import wait_until

from ottla.base.ids import TopicPartition
from ottla.client.cluster.cluster import Cluster
from ottla.client.errors import Unreachable
from ottla.client.fetching.fetcher import FetchedRecords, Fetcher, PartitionRange
from ottla.client.settings import ClientSettings
from ottla.testing.broker import RunningBroker
from ottla.testing.ports import non_ephemeral_port


def test_wrong_servers_are_logged_at_once_and_named_in_the_error(
    caplog: pytest.LogCaptureFixture,
) -> None:
    address = f"127.0.0.1:{non_ephemeral_port()}"
    start_s = time.monotonic()
    with (
        Cluster(ClientSettings(address, default_api_timeout_ms=3_500)) as cluster,
        pytest.raises(Unreachable, match=rf"no broker can be reached \({address}: .*refused"),
    ):
        cluster.list_topics()
    assert time.monotonic() - start_s < 60
    (warning,) = [each for each in caplog.messages if "trying again" in each]
    assert warning.startswith("Metadata: has failed for 2.")
    assert address in warning


def test_a_broker_that_goes_away_and_comes_back_is_logged_twice(
    caplog: pytest.LogCaptureFixture,
) -> None:
    with RunningBroker(port=non_ephemeral_port()) as broker:
        settings = ClientSettings(broker.bootstrap_servers, default_api_timeout_ms=300_000)
        with Cluster(settings) as cluster:
            topic = new_topic(cluster)
            broker.kill()
            asking = threading.Thread(target=cluster.list_topics)
            asking.start()
            wait_until(lambda: "Metadata: has failed" in caplog.text, "the warning")
            broker.start()
            asking.join(120)
            assert any(each.startswith("Metadata: works again") for each in caplog.messages)
            assert topic in cluster.list_topics()


def test_a_reader_logs_when_its_broker_goes_away_and_comes_back(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.WARNING)
    with RunningBroker(port=non_ephemeral_port()) as broker:
        settings = ClientSettings(broker.bootstrap_servers, default_api_timeout_ms=300_000)
        with Cluster(settings) as cluster:
            place = TopicPartition(new_topic(cluster), 0)
            produce(cluster, place, [[b"a"]])
            with Fetcher(cluster, [PartitionRange(place, 0, 2)]) as fetcher:
                assert next(iter(fetcher)).end_offset == 1
                broker.kill()
                found: list[FetchedRecords] = []
                reading = threading.Thread(target=lambda: found.append(next(iter(fetcher))))
                reading.start()
                wait_until(lambda: "Fetch of" in caplog.text, "the warning")
                broker.start()
                with Cluster(settings) as other:
                    produce(other, place, [[b"b"]])
                reading.join(120)
                assert found[0].end_offset == 2
    assert any(
        each.startswith(f"Fetch of {place} from offset 0: works again") for each in caplog.messages
    )
