"""A model of ZooKeeper: what it promises its clients, with everything else drawn at random.

Every client is served by a server of its own, which may be behind the others. Requests and
responses take random time. Connections are lost before or after a request was applied; sessions
expire, and their clients receive that only when they connect again. A watch fires on the server of
its client, and its event reaches the client before any later response, however late both are.
"""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from itertools import chain
from random import Random
from typing import Any, TypeVar, assert_never

from ottla.metadata.zookeeper.service import (
    ANY_VERSION,
    Check,
    Create,
    Delete,
    OnChange,
    Operation,
    OutcomeUnknown,
    ServiceClosed,
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

T = TypeVar("T")
Tree = dict[str, Znode]
SESSION_S = 2.0
SLOW_SHARE = 0.02  # of requests and responses, which others overtake on other connections
SLOW_MAX_S = 1.0
HEARD_MAX_S = 0.15  # until a server without requests has the state of the others


@dataclass(frozen=True)
class Change:
    """One znode as it is after a transaction; None if it was deleted."""

    path: str
    znode: Znode | None


@dataclass
class Ensemble:
    """The committed transactions, and the sessions that are valid."""

    rng: Random
    tree: Tree = field(default_factory=dict)
    transactions: list[tuple[Change, ...]] = field(default_factory=list)
    sessions: set[int] = field(default_factory=set)
    next_session: int = 1
    listeners: list[Callable[[], None]] = field(default_factory=list)  # after each transaction
    denied: set[str] = field(default_factory=set)  # znodes whose ACL allows no change below them

    def begin_session(self) -> int:
        session = self.next_session
        self.next_session += 1
        self.sessions.add(session)
        return session

    def end_session(self, session: int) -> None:
        self.sessions.discard(session)
        owned = [path for path, znode in self.tree.items() if znode.owner == session]
        if owned:
            self._commit([Change(path, None) for path in owned])

    def transact(self, session: int, operations: Sequence[Operation]) -> None:
        for path in (each.path for each in operations if not isinstance(each, Check)):
            if path.rpartition("/")[0] in self.denied:
                raise ZnodeRefused(path, "denied")
        draft = dict(self.tree)
        changes = [change for each in operations for change in _apply(draft, session, each)]
        self._commit(changes)

    def _commit(self, changes: list[Change]) -> None:
        _take_over(self.tree, changes)
        self.transactions.append(tuple(changes))
        for listener in self.listeners:
            listener()


def _apply(tree: Tree, session: int, operation: Operation) -> list[Change]:
    path = operation.path
    found = tree.get(path)
    match operation:
        case Create():
            if found is not None:
                raise ZnodeExists(path)
            parent = path.rpartition("/")[0]
            if parent and parent not in tree:
                raise ZnodeMissing(path)
            change = Change(path, Znode(operation.data, 0, session * operation.is_ephemeral))
        case Check() | Write() | Delete():
            if found is None:
                raise ZnodeMissing(path)
            if operation.version not in (ANY_VERSION, found.version):
                raise VersionMismatch(path)
            if isinstance(operation, Check):
                return []
            if isinstance(operation, Write):
                change = Change(path, Znode(operation.data, found.version + 1, found.owner))
            else:
                if any(other.startswith(path + "/") for other in tree):
                    raise ZnodeRefused(path, "not empty")
                change = Change(path, None)
        case _:
            assert_never(operation)
    _take_over(tree, [change])
    return [change]


def _take_over(tree: Tree, changes: Sequence[Change]) -> None:
    for path, znode in ((each.path, each.znode) for each in changes):
        if znode is None:
            tree.pop(path, None)
        else:
            tree[path] = znode


@dataclass
class _Connection:
    """From the client to its server, until it is lost."""

    is_lost: bool = False
    is_hearing: bool = False  # whether its server is about to are notified of changes
    last_arrival_s: float = 0.0
    responses: deque[Callable[[], None]] = field(default_factory=deque)
    waiting: dict[asyncio.Future[Any], None] = field(default_factory=dict)  # in order


class ModelService:
    """What one broker sees of the ensemble."""

    def __init__(
        self, ensemble: Ensemble, *, delay_max_s: float = 0.02, session: int | None = None
    ) -> None:
        """`session`: of an earlier process, which is taken over unless it has expired."""
        self._ensemble = ensemble
        self._rng = ensemble.rng
        self._delay_max_s = delay_max_s
        self._loop = asyncio.get_running_loop()
        is_valid = session in ensemble.sessions
        self._session = session if session is not None and is_valid else ensemble.begin_session()
        self._tree: Tree = {}
        self._seen = 0  # transactions that the server has applied
        self._watches: list[tuple[str, bool, OnChange]] = []  # on the server
        self._watchers: list[OnChange] = []  # in the client, until it has got the event
        self._listeners: list[Callable[[SessionState], None]] = []
        self._connection = _Connection()
        self._is_connected = asyncio.Event()
        self._is_connected.set()
        self._is_closed = False
        ensemble.listeners.append(self._hear_soon)

    @property
    def address(self) -> str:
        return "model"

    @property
    def session(self) -> ZooKeeperSession:
        return ZooKeeperSession(self._session, b"")

    def subscribe(self, listener: Callable[[SessionState], None]) -> None:
        self._listeners.append(listener)

    @property
    def is_connected(self) -> bool:
        return self._is_connected.is_set() and not self._is_closed

    async def connected(self) -> None:
        await self._is_connected.wait()
        if self._is_closed:
            raise ServiceClosed

    # Requests.

    async def get(self, path: str, on_change: OnChange | None = None) -> Znode | None:
        def read() -> Znode | None:
            self._fall_behind()
            if path in self._tree:
                self._watch(path, False, on_change)
            return self._tree.get(path)

        return await self._request(read)

    async def exists(self, path: str, on_change: OnChange | None = None) -> bool:
        def read() -> bool:
            self._fall_behind()
            self._watch(path, False, on_change)
            return path in self._tree

        return await self._request(read)

    async def children(self, path: str, on_change: OnChange | None = None) -> list[str] | None:
        def read() -> list[str] | None:
            self._fall_behind()
            if path not in self._tree:
                return None
            self._watch(path, True, on_change)
            return [name for each in self._tree if (name := _child(path, each)) is not None]

        return await self._request(read)

    async def had_children(self, path: str) -> bool:
        def read() -> bool:
            self._fall_behind()
            had_some = False
            for change in chain(*self._ensemble.transactions[: self._seen]):
                if change.path == path:
                    had_some = False  # created or deleted
                elif _child(path, change.path) is not None:
                    had_some = True
            return had_some

        return await self._request(read)

    async def multi(self, operations: Sequence[Operation]) -> None:
        def write() -> None:
            self._ensemble.transact(self._session, operations)
            self._catch_up()

        await self._request(write)

    async def sync(self) -> None:
        await self._request(self._catch_up)

    async def close(self) -> None:
        if not self._is_closed:
            self._end(ServiceClosed)
            self._ensemble.end_session(self._session)
            self._is_connected.set()

    # Faults.

    def lose_connection(self, away_s: float) -> None:
        """The client connects again after `away_s`; a session that is away too long expires."""
        if self._is_closed or not self._is_connected.is_set():
            return
        self._is_connected.clear()
        self._drop(OutcomeUnknown)
        for listener in self._listeners:
            listener(SessionState.DISCONNECTED)
        session = self._session
        self._loop.call_later(SESSION_S, self._expire_if_away, session)
        self._loop.call_later(away_s, self._connect_again)

    def crash(self) -> None:
        """The process is gone: it never connects again, and its session expires."""
        self._end(ServiceClosed)
        self._loop.call_later(SESSION_S, self._ensemble.end_session, self._session)

    def _end(self, error: type[Exception]) -> None:
        self._is_closed = True
        self._ensemble.listeners.remove(self._hear_soon)
        self._drop(error)

    def _expire_if_away(self, session: int) -> None:
        if session == self._session and not self._is_connected.is_set():
            self._ensemble.end_session(session)

    def _connect_again(self) -> None:
        if self._is_closed:
            return
        self._connection = _Connection()
        if self._session not in self._ensemble.sessions:
            self._session = self._ensemble.begin_session()
            for listener in self._listeners:
                listener(SessionState.EXPIRED)
        self._is_connected.set()
        for listener in self._listeners:
            listener(SessionState.CONNECTED)

    def _drop(self, error: type[Exception]) -> None:
        connection, watchers = self._connection, self._watchers
        connection.is_lost = True
        self._watches, self._watchers = [], []
        for future in list(connection.waiting):
            if not future.done():
                future.set_exception(error())
        for on_change in watchers:
            self._loop.call_soon(on_change)

    # The server.

    async def _request(self, serve: Callable[[], T]) -> T:
        if self._is_closed:
            raise ServiceClosed
        await self._is_connected.wait()
        connection = self._connection
        if connection.is_lost:
            raise OutcomeUnknown
        future: asyncio.Future[T] = self._loop.create_future()
        connection.waiting[future] = None
        self._loop.call_at(self._arrival(connection), self._serve, connection, serve, future)
        try:
            return await future
        finally:
            connection.waiting.pop(future, None)

    def _arrival(self, connection: _Connection) -> float:
        """Later than everything that was sent before on the same connection."""
        is_slow = self._rng.random() < SLOW_SHARE
        delay_s = self._rng.uniform(0, SLOW_MAX_S if is_slow else self._delay_max_s)
        at = self._loop.time() + delay_s
        connection.last_arrival_s = max(connection.last_arrival_s + 1e-6, at)
        return connection.last_arrival_s

    def _serve(
        self, connection: _Connection, serve: Callable[[], T], future: asyncio.Future[T]
    ) -> None:
        """Also when the connection was lost since: what was sent may still arrive, unless the
        client has connected again."""
        is_current = connection is self._connection and self._session in self._ensemble.sessions
        if not is_current or (connection.is_lost and self._rng.random() < 0.5):
            return
        try:
            result = serve()
        except ZnodeError as error:
            self._send(connection, _settle_with, future, error)
        else:
            self._send(connection, _settle, future, result)

    def _send(self, connection: _Connection, deliver: Callable[..., None], *args: object) -> None:
        if not connection.is_lost:
            connection.responses.append(lambda: deliver(*args))
            self._loop.call_at(self._arrival(connection), self._deliver, connection)

    def _deliver(self, connection: _Connection) -> None:
        if not connection.is_lost and connection.responses:
            connection.responses.popleft()()

    def _fall_behind(self) -> None:
        """Apply some, not always all, of what the other servers have applied."""
        self._advance(self._rng.randint(self._seen, len(self._ensemble.transactions)))

    def _catch_up(self) -> None:
        self._advance(len(self._ensemble.transactions))

    def _advance(self, seen: int) -> None:
        for transaction in self._ensemble.transactions[self._seen : seen]:
            before = set(self._tree)
            _take_over(self._tree, transaction)
            for change in transaction:
                self._fire(change.path, is_new_or_gone=(change.path in before) != (
                    change.path in self._tree
                ))  # fmt: skip
        self._seen = max(self._seen, seen)

    def _watch(self, path: str, is_for_children: bool, on_change: OnChange | None) -> None:
        if on_change is not None:
            self._watches.append((path, is_for_children, on_change))
            self._watchers.append(on_change)
            if self._seen < len(self._ensemble.transactions):
                self._hear_soon()

    def _hear_soon(self) -> None:
        """A server is notified of changes without being asked, if not at once."""
        connection = self._connection
        if self._watches and not (connection.is_hearing or connection.is_lost):
            connection.is_hearing = True
            self._loop.call_later(self._rng.uniform(0, HEARD_MAX_S), self._hear, connection)

    def _hear(self, connection: _Connection) -> None:
        connection.is_hearing = False
        if not connection.is_lost:
            self._catch_up()

    def _fire(self, path: str, *, is_new_or_gone: bool) -> None:
        parent = path.rpartition("/")[0]
        fired = [
            each
            for each in self._watches
            if (not each[1] and each[0] == path)
            or (each[1] and is_new_or_gone and each[0] == parent)
        ]
        for each in fired:
            self._watches.remove(each)
            self._send(self._connection, self._notify, each[2])

    def _notify(self, on_change: OnChange) -> None:
        self._watchers.remove(on_change)
        on_change()


def _child(parent: str, path: str) -> str | None:
    head, _, name = path.rpartition("/")
    return name if head == parent else None


def _settle(future: asyncio.Future[T], result: T) -> None:
    if not future.done():
        future.set_result(result)


def _settle_with(future: asyncio.Future[T], error: Exception) -> None:
    if not future.done():
        future.set_exception(error)
