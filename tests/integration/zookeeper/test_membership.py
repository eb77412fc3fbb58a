"""Brokers in a real ZooKeeper: their znodes, and what becomes of them."""

from __future__ import annotations

import asyncio
import json
import os
import signal
import subprocess
import sys
from uuid import uuid4

import pytest

from ottla.config.zookeeper_connect import ConnectString
from ottla.metadata.records import Endpoint
from ottla.metadata.zookeeper.kazoo_service import KazooService, open_service
from ottla.metadata.zookeeper.layout import BROKER_IDS
from ottla.metadata.zookeeper.membership import (
    BrokerIdInUse,
    LiveBroker,
    announce,
    read_members,
    remove_member,
)
from ottla.metadata.zookeeper.service import Create, NotConnected, ZooKeeperSession, create_missing
from ottla.testing.zookeeper import ZooKeeperServer

MEMBER = LiveBroker(3, b"i" * 16, (Endpoint("PLAINTEXT", "host-a", 9092, "PLAINTEXT"),), "rack-1")

PROCESS = """
import asyncio, sys
from tests.integration.zookeeper.test_membership import MEMBER, connect
from ottla.metadata.zookeeper.membership import announce

async def main():
    service = await connect(sys.argv[1], sys.argv[2])
    await announce(service, MEMBER, 1)
    print(service.session.id, service.session.password.hex(), flush=True)
    await asyncio.sleep(600)

asyncio.run(main())
"""


async def connect(hosts: str, chroot: str, session: ZooKeeperSession | None = None) -> KazooService:
    service = await open_service(
        ConnectString(hosts, chroot), asyncio.to_thread,
        session_timeout_ms=30_000, connection_timeout_ms=20_000, session=session,
    )  # fmt: skip
    await create_missing(service, BROKER_IDS)
    return service


def test_a_broker_is_seen_as_in_apache_kafka(zookeeper: ZooKeeperServer) -> None:
    async def story() -> None:
        chroot = f"/test-{uuid4()}"
        one, other = [await connect(zookeeper.address, chroot) for _ in range(2)]
        changed = asyncio.Event()
        assert await read_members(other, changed.set) == {}
        await announce(one, MEMBER, 1_700_000_000_000)
        await announce(one, MEMBER, 1_700_000_000_000)  # after a session that lasted
        await asyncio.wait_for(changed.wait(), 60)
        assert await read_members(other) == {3: MEMBER}
        znode = await other.get("/brokers/ids/3")
        assert znode is not None
        assert json.loads(znode.data) == {
            "version": 5, "host": "host-a", "port": 9092, "jmx_port": -1,
            "timestamp": "1700000000000", "endpoints": ["PLAINTEXT://host-a:9092"],
            "listener_security_protocol_map": {"PLAINTEXT": "PLAINTEXT"},
            "rack": "rack-1", "features": {}, "incarnation": "aWlpaWlpaWlpaWlpaWlpaQ",
        }  # fmt: skip
        await other.multi([Create("/brokers/ids/7", b"by hand"), Create("/brokers/ids/x")])
        assert await read_members(other) == {3: MEMBER}
        await one.close()
        await wait_until_gone(other)
        await other.close()

    asyncio.run(story())


def test_two_brokers_with_one_id_are_distinguished(zookeeper: ZooKeeperServer) -> None:
    async def story() -> None:
        chroot = f"/test-{uuid4()}"
        one, other = [await connect(zookeeper.address, chroot) for _ in range(2)]
        await announce(one, MEMBER, 1)
        second = LiveBroker(3, b"j" * 16, MEMBER.endpoints)
        with pytest.raises(BrokerIdInUse, match="/brokers/ids/3 belongs to host-a:9092"):
            await announce(other, second, 1)
        await remove_member(other, second)  # of another incarnation: nothing happens
        assert await read_members(other) == {3: MEMBER}
        await remove_member(other, MEMBER)
        await announce(other, second, 1)
        await one.close()
        await other.close()

    asyncio.run(story())


def test_the_znode_of_a_killed_process_is_removed_by_its_successor(
    zookeeper: ZooKeeperServer,
) -> None:
    chroot = f"/test-{uuid4()}"
    process = subprocess.Popen(
        [sys.executable, "-c", PROCESS, zookeeper.address, chroot],
        stdout=subprocess.PIPE,
        text=True,
    )
    assert process.stdout is not None
    session_id, password = process.stdout.readline().split()
    os.kill(process.pid, signal.SIGKILL)
    process.communicate()

    async def story() -> None:
        session = ZooKeeperSession(int(session_id), bytes.fromhex(password))
        previous = await connect(zookeeper.address, chroot, session)
        assert previous.session == session
        assert await read_members(previous) == {3: MEMBER}
        await previous.close()
        service = await connect(zookeeper.address, chroot)
        assert await read_members(service) == {}  # long before 30 seconds have passed
        await announce(service, LiveBroker(3, b"j" * 16, MEMBER.endpoints), 1)
        await service.close()

    asyncio.run(story())


def test_a_server_that_does_not_answer_is_named() -> None:
    async def story() -> None:
        with pytest.raises(NotConnected, match=r"127\.0\.0\.1:1 answered within 300 ms"):
            await open_service(
                ConnectString("127.0.0.1:1"), asyncio.to_thread,
                session_timeout_ms=6000, connection_timeout_ms=300,
            )  # fmt: skip

    asyncio.run(story())


async def wait_until_gone(service: KazooService) -> None:
    while await service.exists("/brokers/ids/3"):
        await asyncio.sleep(0.02)
