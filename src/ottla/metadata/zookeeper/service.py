"""What a broker needs of ZooKeeper: znodes, transactions, watches, one session.

Promises  an implementation orders the requests of one caller as they were made, as ZooKeeper does.
          `OutcomeUnknown` means that a write may or may not have happened; every other error means
          that it has not.
Leaves    the protocol and its threads to `kazoo_service.py`; tests have a model that loses
          connections, expires sessions and delays watches.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from enum import Enum
from typing import NamedTuple, ParamSpec, Protocol, TypeVar

ANY_VERSION = -1


class ZooKeeperError(Exception):
    """Base of the errors below."""


class NotConnected(ZooKeeperError):
    """No server of the ensemble answered in time."""


class OutcomeUnknown(ZooKeeperError):
    """The connection ended before the response. A write may have been applied."""


class SessionExpired(OutcomeUnknown):
    """ZooKeeper has ended the session and removed its ephemeral znodes. A new one begins."""


class ServiceClosed(ZooKeeperError):
    """`close` was called."""


class ZnodeError(ZooKeeperError):
    """A request was refused because of one znode, and nothing was changed."""

    def __init__(self, path: str) -> None:
        super().__init__(path)
        self.path = path


class ZnodeExists(ZnodeError):
    pass


class ZnodeMissing(ZnodeError):
    """The znode of a change, or the parent of a new one, does not exist."""


class VersionMismatch(ZnodeError):
    pass


class ZnodeRefused(ZnodeError):
    """ZooKeeper does not allow the request, and will not until an operator changes something."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(path)
        self.args = (path, reason)
        self.reason = reason

    def __str__(self) -> str:
        return f"ZooKeeper refuses a request for the znode {self.path}: {self.reason}"


class ChrootMissing(ZooKeeperError):
    """The znode below which the cluster keeps everything does not exist any more."""

    def __init__(self, address: str) -> None:
        super().__init__(address)
        self.address = address

    def __str__(self) -> str:
        return (
            f"the chroot of zookeeper.connect, {self.address}, was deleted, and with it the "
            "metadata of the cluster: restore ZooKeeper from a backup"
        )


class Znode(NamedTuple):
    data: bytes
    version: int  # grows with every change of the data
    owner: int = 0  # the session that an ephemeral znode belongs to

    @property
    def is_ephemeral(self) -> bool:
        return self.owner != 0


class ZooKeeperSession(NamedTuple):
    """What another process needs to take over a session, and to close it."""

    id: int
    password: bytes


class SessionState(Enum):
    CONNECTED = "connected"
    DISCONNECTED = "disconnected"  # the session may still be valid
    EXPIRED = "expired"


@dataclass(frozen=True, slots=True)
class Check:
    path: str
    version: int


@dataclass(frozen=True, slots=True)
class Create:
    path: str
    data: bytes = b""
    is_ephemeral: bool = False


@dataclass(frozen=True, slots=True)
class Write:
    path: str
    data: bytes
    version: int = ANY_VERSION


@dataclass(frozen=True, slots=True)
class Delete:
    path: str
    version: int = ANY_VERSION


Operation = Check | Create | Write | Delete
OnChange = Callable[[], None]


class ZooKeeperService(Protocol):
    """Paths are relative to the chroot. A watch fires once: at a change of its znode, or when the
    connection is lost, because changes may be missed then."""

    @property
    def address(self) -> str:
        """Hosts and chroot, for messages."""

    @property
    def session(self) -> ZooKeeperSession: ...

    @property
    def is_connected(self) -> bool: ...

    async def connected(self) -> None:
        """Return while there is a connection; wait for one otherwise."""

    def subscribe(self, listener: Callable[[SessionState], None]) -> None:
        """Call `listener` at every change of the session's state."""

    async def get(self, path: str, on_change: OnChange | None = None) -> Znode | None:
        """None if it does not exist; a watch is set only if it does."""

    async def exists(self, path: str, on_change: OnChange | None = None) -> bool:
        """A watch is set in both cases, and fires when the znode is created."""

    async def children(self, path: str, on_change: OnChange | None = None) -> list[str] | None:
        """Names, in no order; None if the znode does not exist."""

    async def had_children(self, path: str) -> bool:
        """Whether the znode exists and has or had children since it was created."""

    async def multi(self, operations: Sequence[Operation]) -> None:
        """Do all of them or none. The ZnodeError names the first that was refused."""

    async def sync(self) -> None:
        """Later reads see every write that was answered before this call, to any client."""

    async def close(self) -> None:
        """End the session; its ephemeral znodes are removed."""


T = TypeVar("T")
P = ParamSpec("P")


async def retried(
    service: ZooKeeperService,
    request: Callable[P, Awaitable[T]],
    *args: P.args,
    **kwargs: P.kwargs,
) -> T:
    """Repeat a request until it is answered. Only for reads, and writes that may happen twice."""
    while True:
        try:
            return await request(*args, **kwargs)
        except OutcomeUnknown:
            await service.connected()


async def create_missing(service: ZooKeeperService, path: str) -> None:
    """Create a persistent, empty znode and its parents, where they do not exist."""
    names = path.strip("/").split("/")
    for count in range(1, len(names) + 1):
        with suppress(ZnodeExists):
            create = Create("/" + "/".join(names[:count]))
            await retried(service, service.multi, [create])
