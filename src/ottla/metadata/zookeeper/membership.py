"""Which brokers are alive: each has an ephemeral znode `/brokers/ids/<id>`.

The data is the JSON that Apache Kafka wrote there, with one field more: the incarnation, which
distinguishes a process from its successor with the same id. A znode there that is not ephemeral was
created by hand: no broker is alive because of it, and a broker with that id replaces it.
"""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

from ottla.base.uuids import uuid_from_text, uuid_to_text
from ottla.metadata.records import Endpoint
from ottla.metadata.zookeeper.json_data import decode_object
from ottla.metadata.zookeeper.layout import BROKER_IDS, broker_path
from ottla.metadata.zookeeper.service import (
    ChrootMissing,
    Create,
    Delete,
    OnChange,
    Operation,
    OutcomeUnknown,
    VersionMismatch,
    Znode,
    ZnodeExists,
    ZnodeMissing,
    ZooKeeperService,
    create_missing,
    retried,
)

log = logging.getLogger(__name__)
FORMAT = 5  # of Kafka's JSON


class BrokerIdInUse(Exception):
    """Another process is registered with the same broker id."""

    def __init__(self, path: str, address: str, other: bytes) -> None:
        super().__init__(path, address, other)
        self.path = path
        self.address = address
        self.other = other

    def __str__(self) -> str:
        return (
            f"another broker with the same id is running: the znode {self.path} belongs to "
            f"{self.address}\n"
            "  give each broker its own node.id; or, if that broker was stopped, start this one "
            "again after its ZooKeeper session has expired"
        )


class AddressInUse(Exception):
    """Another broker is registered with the same address."""

    def __init__(self, path: str, address: str) -> None:
        super().__init__(path, address)
        self.path = path
        self.address = address

    def __str__(self) -> str:
        return (
            f"another broker has the address {self.address}: see the znode {self.path}\n"
            "  give each broker its own address in advertised.listeners; or, if that broker was "
            "stopped, start this one again after its ZooKeeper session has expired"
        )


@dataclass(frozen=True, slots=True)
class LiveBroker:
    broker_id: int
    incarnation_id: bytes
    endpoints: tuple[Endpoint, ...]
    rack: str | None = None

    def encode(self, now_ms: int) -> bytes:
        first = self.endpoints[0]
        fields = {
            "version": FORMAT,
            "host": first.host,
            "port": first.port,
            "jmx_port": -1,
            "timestamp": str(now_ms),
            "endpoints": [f"{each.listener}://{each.host}:{each.port}" for each in self.endpoints],
            "listener_security_protocol_map": {
                each.listener: each.protocol for each in self.endpoints
            },
            "rack": self.rack,
            "features": {},
            "incarnation": uuid_to_text(self.incarnation_id),
        }
        return json.dumps(fields).encode()

    @property
    def address(self) -> str:
        return f"{self.endpoints[0].host}:{self.endpoints[0].port}" if self.endpoints else "?"


def decode_member(broker_id: int, data: bytes) -> LiveBroker | None:
    """None if the data is not that of a broker: a znode that was created by hand."""
    try:
        fields = decode_object(data)
        protocols: Mapping[str, str] = fields["listener_security_protocol_map"]
        endpoints = tuple(_decode_endpoint(each, protocols) for each in fields["endpoints"])
        incarnation_id = uuid_from_text(fields["incarnation"])
        return LiveBroker(broker_id, incarnation_id, endpoints, fields["rack"])
    except (ValueError, KeyError, TypeError, AttributeError):
        return None


def _decode_endpoint(text: Any, protocols: Mapping[str, str]) -> Endpoint:
    listener, _, address = text.partition("://")
    host, _, port = address.rpartition(":")
    return Endpoint(listener, host, int(port), protocols[listener])


async def announce(
    service: ZooKeeperService,
    member: LiveBroker,
    now_ms: int,
    on_change: OnChange | None = None,
) -> None:
    """Create the znode of this broker. BrokerIdInUse if another process has it. `on_change` is
    called when it is changed or deleted by something else."""
    path = broker_path(member.broker_id)
    await retried(service, service.sync)  # its server may not know yet that one was removed
    while True:
        znode = await retried(service, service.get, path, on_change)
        is_ours = znode is not None and znode.owner == service.session.id
        has_incarnation = (
            znode is not None and _incarnation(member.broker_id, znode) == member.incarnation_id
        )
        if is_ours and has_incarnation:
            return
        is_of_other = znode is not None and znode.is_ephemeral and not is_ours
        if znode is not None and is_of_other and not has_incarnation:
            raise _in_use(path, member.broker_id, znode)
        if is_ours:
            log.warning("the znode %s was edited, and is written again", path)
        elif znode is not None and not znode.is_ephemeral:
            _report_hand_made(path, "written again")
        operation: Operation
        if znode is None:
            operation = Create(path, member.encode(now_ms), is_ephemeral=True)
        else:  # edited or made by hand, or of our last session, which has not expired yet
            operation = Delete(path, znode.version)
        try:
            await service.multi([operation])
        except OutcomeUnknown:
            await service.connected()
        except (ZnodeExists, VersionMismatch):
            pass  # read it again
        except ZnodeMissing:
            if znode is None:
                await _restore_folder(service)


async def _restore_folder(service: ZooKeeperService) -> None:
    log.warning("the znode %s was deleted, and is created again", BROKER_IDS)
    try:
        await create_missing(service, BROKER_IDS)
    except ZnodeMissing as error:
        raise ChrootMissing(service.address) from error


async def require_free_id(
    service: ZooKeeperService, broker_id: int, ended: bytes | None = None
) -> None:
    """BrokerIdInUse if another process has the znode of this broker. If its incarnation is `ended`,
    it is known to have ended, and its znode is removed."""
    await retried(service, service.sync)
    path = broker_path(broker_id)
    while True:
        znode = await retried(service, service.get, path)
        if znode is None or znode.owner == service.session.id:
            return
        if not znode.is_ephemeral:
            _report_hand_made(path, "deleted")
        elif ended is None or _incarnation(broker_id, znode) != ended:
            raise _in_use(path, broker_id, znode)
        await _remove(service, path, znode)


async def require_unused_addresses(service: ZooKeeperService, member: LiveBroker) -> None:
    """AddressInUse if another broker that is alive has one of the addresses of this one."""
    endpoints = {(each.host, each.port) for each in member.endpoints}
    for other in (await read_members(service)).values():
        for each in other.endpoints:
            if other.broker_id != member.broker_id and (each.host, each.port) in endpoints:
                raise AddressInUse(broker_path(other.broker_id), f"{each.host}:{each.port}")


async def read_member(service: ZooKeeperService, broker_id: int) -> LiveBroker | None:
    """None if there is no such broker."""
    znode = await retried(service, service.get, broker_path(broker_id))
    return None if znode is None else _decode(broker_id, znode)


async def read_members(
    service: ZooKeeperService, on_change: OnChange | None = None
) -> dict[int, LiveBroker]:
    """The brokers that are alive, by id. `on_change` is called when one is added or removed."""
    names = await retried(service, service.children, BROKER_IDS, on_change) or []
    members = {}
    for name in sorted(names):
        znode = await retried(service, service.get, f"{BROKER_IDS}/{name}")
        if znode is not None and name.isdecimal() and str(int(name)) == name:
            member = _decode(int(name), znode)
            if member is not None:
                members[member.broker_id] = member
    return members


def _decode(broker_id: int, znode: Znode) -> LiveBroker | None:
    if not znode.is_ephemeral:
        _report_hand_made(broker_path(broker_id), "ignored")
        return None
    return decode_member(broker_id, znode.data)


def _report_hand_made(path: str, what_happens: str) -> None:
    log.warning(
        "the znode %s is not ephemeral: no broker has created it, and it is %s", path, what_happens
    )


async def remove_member(service: ZooKeeperService, member: LiveBroker) -> None:
    """Remove the znode of a process that is known to have ended, before its session expires."""
    path = broker_path(member.broker_id)
    znode = await retried(service, service.get, path)
    if znode is not None and _incarnation(member.broker_id, znode) == member.incarnation_id:
        await _remove(service, path, znode)


async def _remove(service: ZooKeeperService, path: str, znode: Znode) -> None:
    """Delete it unless it has changed; the caller reads it again if necessary."""
    with suppress(ZnodeMissing, VersionMismatch, OutcomeUnknown):
        await service.multi([Delete(path, znode.version)])


def _incarnation(broker_id: int, znode: Znode) -> bytes | None:
    member = decode_member(broker_id, znode.data)
    return None if member is None else member.incarnation_id


def _in_use(path: str, broker_id: int, znode: Znode) -> BrokerIdInUse:
    other = decode_member(broker_id, znode.data)
    if other is None:
        return BrokerIdInUse(path, "an unknown process", b"")
    return BrokerIdInUse(path, other.address, other.incarnation_id)
