"""Brokers without pytest: `with Broker()`, `async with AsyncBroker()`."""

from __future__ import annotations

import asyncio
import os
import socket
from pathlib import Path

import pytest
from aiokafka import AIOKafkaProducer
from confluent_kafka.admin import ConfigResource

import ottla.testing
from ottla.testing import AsyncBroker, Broker, BrokerFailed, Kafka, Record
from ottla.testing import broker as broker_module
from ottla.testing.broker import last_lines


def test_records_outlive_a_kill_and_the_port_stays(tmp_path: Path) -> None:
    with Broker(data=tmp_path) as broker:
        kafka = Kafka(broker.bootstrap_servers, prefix="")
        kafka.topic("t")
        kafka.produce("t", ["before"])
        address = broker.bootstrap_servers
        broker.kill()
        assert not broker.is_running
        broker.start()
        assert broker.bootstrap_servers == address
        kafka.produce("t", ["after"])
        kafka.assert_messages("t", ["before", "after"])
    assert (tmp_path / ".kafka_cleanshutdown").exists()  # what is kept is left cleanly


@pytest.mark.parametrize("config", [{}, {"offsets.topic.num.partitions": 9}])
def test_partitions_for_groups_are_few_unless_data_is_kept(
    config: dict[str, int], tmp_path: Path
) -> None:
    name = "offsets.topic.num.partitions"
    with Broker(config=config) as own, Broker(config=config, data=tmp_path) as kept:
        assert count_of(own, name) == config.get(name, 6)
        assert count_of(kept, name) == config.get(name, 50)


def count_of(broker: Broker, name: str) -> int:
    kafka = Kafka(broker.bootstrap_servers)
    (node,) = kafka.admin.list_topics(timeout=60).brokers
    asked = ConfigResource(ConfigResource.Type.BROKER, str(node))
    (found,) = kafka.admin.describe_configs([asked]).values()
    value = found.result(60)[name].value
    kafka.close()
    return int(value)


def test_a_broker_in_asyncios_style() -> None:
    async def story() -> list[str]:
        async with AsyncBroker(config={"num.partitions": "1"}) as broker:
            producer = AIOKafkaProducer(bootstrap_servers=broker.bootstrap_servers)
            await producer.start()
            try:
                await producer.send_and_wait("t", b"hello")
            finally:
                await producer.stop()
            assert await broker.restart() is broker
            await broker.pause()
            assert broker.broker.is_paused
            await broker.resume()
            kafka = Kafka(broker, prefix="")
            return [each.text for each in await asyncio.to_thread(kafka.consume, "t", 1)]

    assert asyncio.run(story()) == ["hello"]


@pytest.mark.parametrize("controls", [False, True], ids=["plain", "with controls"])
def test_a_broker_that_was_just_started_stops_cleanly(controls: bool, tmp_path: Path) -> None:
    for _ in range(3):
        assert Broker(data=tmp_path, controls=controls).start().stop() == 0


def test_a_large_record_is_written_if_its_topic_takes_it() -> None:
    with Broker() as broker:
        kafka = Kafka(broker)
        topic = kafka.topic("large", config={"max.message.bytes": 5e6})
        kafka.produce(topic, "x" * 2_000_000)
        kafka.assert_messages(topic, "x" * 2_000_000)


def test_a_full_disk_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    with Broker(controls=True) as broker:
        kafka = Kafka(broker)
        topic = kafka.topic("t")
        broker.faults.fill_disk()
        monkeypatch.setattr("ottla.testing.kafka.REQUEST_TIMEOUT_S", 2)
        with pytest.raises(
            RuntimeError, match=r"2 s; broker 1: the disk of its log directory .*full"
        ):
            kafka.produce(topic, "x")


def test_start_can_be_chained_and_repeated() -> None:
    with Broker(config={"num.partitions": 1, "auto.create.topics.enable": False}).start() as broker:
        pid = broker.pid
        assert broker.start() is broker
        assert broker.pid == pid
        broker.pause()
        assert broker.stop() == 0  # a paused process would not see the signal
        assert broker.restart() is broker
        assert not broker.is_paused
        broker.kill()
        assert broker.exit_code == -9
        for change in (broker.pause, broker.resume):
            with pytest.raises(BrokerFailed, match="the broker is not running"):
                change()


def test_a_directory_is_removed_though_the_broker_was_not_closed() -> None:
    broker = Broker().start()
    data, pid = broker.data, broker.pid
    del broker
    assert not data.exists()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)


def test_a_long_log_is_shown_in_part() -> None:
    text = "\n".join(map(str, range(100)))
    assert last_lines(text, 2) == "... 98 lines before these ...\n98\n99"
    assert last_lines(text, 100) == text


@pytest.mark.parametrize("cls", [AsyncBroker, Broker, Kafka, Record])
def test_everything_public_has_a_docstring(cls: type) -> None:
    members = {name: value for name, value in vars(cls).items() if not name.startswith("_")}
    documented = {n: v for n, v in members.items() if isinstance(v, property) or callable(v)}
    assert cls.__doc__
    assert [name for name, value in documented.items() if not value.__doc__] == []


def test_a_broker_that_does_not_start_says_why() -> None:
    broker = Broker(config={"no.such.setting": "1"})
    with pytest.raises(BrokerFailed, match=r"no\.such\.setting: no such setting"):
        broker.start()
    broker.close()
    assert not broker.data.exists()


def test_what_the_package_offers_is_there() -> None:
    for name in ottla.testing.__all__:
        assert getattr(ottla.testing, name) is not None
    with pytest.raises(AttributeError, match="no attribute 'Nothing'"):
        _ = ottla.testing.Nothing


def test_a_port_that_somebody_took_meanwhile_is_left_to_them(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ports = iter([taken.getsockname()[1], 0])
        monkeypatch.setattr(broker_module, "non_ephemeral_port", lambda: next(ports))
        with Broker() as broker:
            socket.create_connection(("127.0.0.1", broker._port)).close()


def test_an_async_broker_has_a_clock_and_faults_which_are_awaited() -> None:
    async def use() -> None:
        async with AsyncBroker(controls=True) as broker:
            before_ms = broker.clock.now_ms()
            await broker.clock.advance(hours=1)
            assert broker.clock.now_ms() >= before_ms + 3_600_000
            await broker.faults.fail("CreateTopics", "REQUEST_TIMED_OUT", nth=1, times=None)
            with pytest.raises(RuntimeError, match="a fault that the test asked for"):
                await asyncio.to_thread(Kafka(broker.broker).topic, "t")
            assert await broker.faults.requests("CreateTopics") >= 1
            await broker.faults.clear()
            await asyncio.to_thread(Kafka(broker.broker).topic, "t")
        with pytest.raises(BrokerFailed, match="controls=True"):
            _ = AsyncBroker().clock

    asyncio.run(use())
