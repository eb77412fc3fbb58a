"""ZooKeeper through kazoo.

Owns      the kazoo client, and the only imports of kazoo.
Threads   kazoo answers in threads of its own. Every result and watch is handed to the event loop;
          nothing here waits for another thread on the event loop.

kazoo renews a lost connection, and an expired session, by itself. While there is no connection,
requests are refused or wait, depending on the moment; both end as OutcomeUnknown or as a response.
"""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from contextlib import suppress
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Any, assert_never

from kazoo import exceptions as kazoo_errors
from kazoo.client import KazooClient, KazooState
from kazoo.exceptions import WriterNotClosedException
from kazoo.protocol.states import WatchedEvent
from kazoo.retry import KazooRetry

from ottla.base.scheduling.threads import RunJob, run_detached
from ottla.config.zookeeper_connect import ConnectString
from ottla.metadata.zookeeper.chroot import create_chroot
from ottla.metadata.zookeeper.service import (
    Check,
    Create,
    Delete,
    NotConnected,
    OnChange,
    Operation,
    OutcomeUnknown,
    ServiceClosed,
    SessionExpired,
    SessionState,
    VersionMismatch,
    Write,
    Znode,
    ZnodeError,
    ZnodeExists,
    ZnodeMissing,
    ZnodeRefused,
    ZooKeeperSession,
)

RECONNECT_DELAY_S = 0.05
NO_SESSION = ZooKeeperSession(0, b"")  # after one has expired, and before the next
RECONNECT_DELAY_MAX_S = 1.0

_STATES = {
    KazooState.CONNECTED: SessionState.CONNECTED,
    KazooState.SUSPENDED: SessionState.DISCONNECTED,
    KazooState.LOST: SessionState.EXPIRED,
}
_REFUSALS = {
    kazoo_errors.NodeExistsError: ZnodeExists,
    kazoo_errors.NoNodeError: ZnodeMissing,
    kazoo_errors.BadVersionError: VersionMismatch,
}
_REFUSAL_REASONS = {
    kazoo_errors.NoAuthError: "its ACL or that of its parent denies it: brokers need all (setAcl)",
    kazoo_errors.NotEmptyError: "it has znodes below it that no broker has created: delete them",
    kazoo_errors.QuotaExceededError: "its quota is exceeded (setquota)",
}
# In the results of a transaction, for operations that did not fail by themselves.
_FOLLOWING_FAILURES = (kazoo_errors.RolledBackError, kazoo_errors.RuntimeInconsistency)
_LOST = (
    kazoo_errors.ConnectionLoss,
    kazoo_errors.OperationTimeoutError,
    kazoo_errors.SessionMovedError,
)


class KazooService:
    def __init__(self, client: KazooClient, connect: ConnectString, run_job: RunJob) -> None:
        self._client = client
        self._connect = connect
        self._run_job = run_job
        self._loop = asyncio.get_running_loop()
        self._listeners: list[Callable[[SessionState], None]] = []
        self._is_connected = asyncio.Event()
        self._is_closed = False

    @property
    def address(self) -> str:
        return str(self._connect)

    @property
    def session(self) -> ZooKeeperSession:
        found = self._client.client_id
        return NO_SESSION if found is None else ZooKeeperSession(*found)

    def subscribe(self, listener: Callable[[SessionState], None]) -> None:
        self._listeners.append(listener)

    @property
    def is_connected(self) -> bool:
        return self._is_connected.is_set() and not self._is_closed

    async def connected(self) -> None:
        if self._is_closed:
            raise ServiceClosed
        await self._is_connected.wait()
        if self._is_closed:
            raise ServiceClosed

    async def get(self, path: str, on_change: OnChange | None = None) -> Znode | None:
        try:
            reading = self._client.get_async(self._full(path), self._watch(on_change))
            data, stat = await self._result(reading, path)
        except ZnodeMissing:
            return None
        return Znode(data, stat.version, stat.ephemeralOwner)

    async def exists(self, path: str, on_change: OnChange | None = None) -> bool:
        watch = self._watch(on_change)
        found = await self._result(self._client.exists_async(self._full(path), watch), path)
        return found is not None

    async def children(self, path: str, on_change: OnChange | None = None) -> list[str] | None:
        watch = self._watch(on_change)
        try:
            listing = self._client.get_children_async(self._full(path), watch)
            names: list[str] = await self._result(listing, path)
        except ZnodeMissing:
            return None
        return names

    async def had_children(self, path: str) -> bool:
        stat = await self._result(self._client.exists_async(self._full(path)), path)
        return stat is not None and stat.children_version > 0

    async def multi(self, operations: Sequence[Operation]) -> None:
        transaction = self._client.transaction()
        for each in operations:
            _add(transaction, self._full(each.path), each)
        results = await self._result(transaction.commit_async(), operations[0].path)
        for each, result in zip(operations, results, strict=True):
            if isinstance(result, Exception) and not isinstance(result, _FOLLOWING_FAILURES):
                raise _refusal(result, each.path)

    async def sync(self) -> None:
        await self._result(self._client.sync_async(self._full("")), "")

    async def close(self) -> None:
        if self._is_closed:
            return
        self._is_closed = True
        self._is_connected.set()
        await self._run_job(self._stop)

    def abandon(self) -> None:
        """Close before there is a session, without waiting: for a server that accepts connections
        and does not respond, kazoo waits as long as a session lasts.
        """
        self._is_closed = True
        self._is_connected.set()
        run_detached(self._try_to_stop)

    def _full(self, path: str) -> str:
        return self._connect.chroot + path or "/"

    def _stop(self) -> None:
        self._client.remove_listener(self._state_changed)
        self._client.stop()
        self._client.close()

    def _try_to_stop(self) -> None:
        with suppress(WriterNotClosedException):
            self._stop()

    # Called in kazoo's threads.

    def _state_changed(self, state: str) -> None:
        self._call_on_loop(partial(self._note_state, _STATES[state]))

    def _watch(self, on_change: OnChange | None) -> Callable[[WatchedEvent], None] | None:
        if on_change is None:
            return None
        return lambda _event: self._call_on_loop(on_change)

    def _call_on_loop(self, callback: Callable[[], None]) -> None:
        if not self._loop.is_closed():
            self._loop.call_soon_threadsafe(callback)

    # Called on the event loop.

    def _note_state(self, state: SessionState) -> None:
        if self._is_closed:
            return
        if state is SessionState.CONNECTED:
            self._is_connected.set()
        else:
            self._is_connected.clear()
        for listener in self._listeners:
            listener(state)

    async def _result(self, pending: Any, path: str) -> Any:
        if self._is_closed:
            raise ServiceClosed
        future: asyncio.Future[Any] = self._loop.create_future()
        pending.rawlink(lambda done: self._call_on_loop(partial(_settle, future, done)))
        try:
            return await future
        except kazoo_errors.SessionExpiredError as error:
            raise SessionExpired(str(error)) from error
        except _LOST as error:
            raise OutcomeUnknown(str(error)) from error
        except kazoo_errors.ConnectionClosedError as error:
            if self._is_closed:
                raise ServiceClosed from error
            raise OutcomeUnknown(str(error)) from error
        except kazoo_errors.KazooException as error:
            raise _refusal(error, path) from error


async def open_service(
    connect: ConnectString,
    run_job: RunJob,
    *,
    session_timeout_ms: int,
    connection_timeout_ms: int,
    session: ZooKeeperSession | None = None,
) -> KazooService:
    """Connect, and create the chroot if it does not exist. NotConnected if no server answers,
    ChrootInCluster if the chroot is among the znodes of another cluster.

    With a session of an earlier process, its ephemeral znodes belong to this one: closing the
    service removes them.
    """
    client = KazooClient(
        hosts=connect.hosts,
        timeout=session_timeout_ms / 1000,
        client_id=tuple(session) if session is not None else None,
        connection_retry=KazooRetry(
            max_tries=-1, delay=RECONNECT_DELAY_S, max_delay=RECONNECT_DELAY_MAX_S
        ),
        logger=_kazoo_log(),
    )
    service = KazooService(client, connect, run_job)
    client.add_listener(service._state_changed)
    client.start_async()
    try:
        await asyncio.wait_for(service.connected(), connection_timeout_ms / 1000)
    except TimeoutError as error:
        service.abandon()
        raise NotConnected(
            f"no ZooKeeper server of {connect.hosts} answered within {connection_timeout_ms} ms: "
            "start ZooKeeper, or correct zookeeper.connect"
        ) from error
    except BaseException:
        service.abandon()
        raise
    try:
        await create_chroot(_at_root(service), connect.chroot)
    except BaseException:
        service.abandon()
        raise
    return service


def _kazoo_log() -> logging.Logger:
    """Without lost connections, which are reported to listeners."""
    found = logging.getLogger(f"{__name__}.kazoo")
    found.setLevel(logging.ERROR)
    return found


def _at_root(service: KazooService) -> KazooService:
    """The same connection without the chroot, to create the chroot itself."""
    root = copy(service)
    root._connect = replace(service._connect, chroot="")
    return root


def _add(transaction: Any, path: str, operation: Operation) -> None:
    match operation:
        case Check(version=version):
            transaction.check(path, version)
        case Create(data=data, is_ephemeral=is_ephemeral):
            transaction.create(path, data, ephemeral=is_ephemeral)
        case Write(data=data, version=version):
            transaction.set_data(path, data, version)
        case Delete(version=version):
            transaction.delete(path, version)
        case _:
            assert_never(operation)


def _refusal(error: Exception, path: str) -> ZnodeError:
    """The error about one znode, by kazoo's error."""
    if type(error) in _REFUSALS:
        return _REFUSALS[type(error)](path)
    return ZnodeRefused(path or "/", _REFUSAL_REASONS.get(type(error), repr(error)))


def _settle(future: asyncio.Future[Any], done: Any) -> None:
    if future.done():
        return
    if done.exception is not None:
        future.set_exception(done.exception)
    else:
        future.set_result(done.value)
