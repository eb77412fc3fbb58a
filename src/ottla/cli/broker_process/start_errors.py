"""Messages for the reasons why a broker does not start, with what to do.

Leaves    detecting them to the parts that raise them.
"""

from __future__ import annotations

import errno
import os
import socket
from collections.abc import Iterable, Sequence

from ottla import __version__
from ottla.base.files.disk import DiskFileSystem
from ottla.cli.broker_process.owners import lock_owner, port_owner
from ottla.config.listeners import ListenerEndpoint
from ottla.config.load import LoadedConfig
from ottla.metadata.log import CorruptMetadataError, MetadataLost, NewerMetadata
from ottla.metadata.zookeeper.membership import AddressInUse, BrokerIdInUse
from ottla.metadata.zookeeper.service import (
    NotConnected,
    ZnodeError,
    ZnodeRefused,
    ZooKeeperError,
)
from ottla.network.listening import BindError, bind_sockets
from ottla.network.settings import ListenerSettings
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.errors import BrokerError
from ottla.storage.directories.directory_ownership import WrongDirectory
from ottla.storage.errors import CorruptLogError, StorageError
from ottla.storage.files.directory_health import StorageUnavailable
from ottla.storage.files.file_names import LOCK_NAME, META_PROPERTIES_NAME
from ottla.storage.files.meta_properties import read_meta_properties

EXPECTED = (
    StorageError,
    CorruptMetadataError,
    MetadataLost,
    NewerMetadata,
    ZooKeeperError,
    BrokerIdInUse,
    AddressInUse,
    BrokerError,
    OSError,
)  # others are bugs, and show a traceback
REFUSED_REGISTRATION = {
    ErrorCode.DUPLICATE_BROKER_REGISTRATION: "give each broker its own node.id",
    ErrorCode.INVALID_REGISTRATION: "its log directories belong to another broker, or were copied "
    "from one: give each broker directories of its own",
    ErrorCode.UNSUPPORTED_VERSION: "the cluster uses features that this version does not have: "
    "upgrade this broker",
    ErrorCode.REQUEST_TIMED_OUT: "start the other brokers, or see their logs",
}
OTHER_DIRECTORY = "choose another directory with --data DIR"


LIMITS = {
    errno.EMFILE: "this process may open too few files: raise the limit with ulimit -n 4096",
    errno.ENFILE: "this machine has too many open files: raise the limit fs.file-max",
    errno.EFBIG: "this process may not write files of this size: raise the limit with ulimit -f",
}


async def problem_before_loading(settings: LoadedConfig) -> str | None:
    """A port, address or directory that cannot be used, found before the broker is loaded.

    Nothing is created if it is a port. Another process may take the port until the broker binds it,
    which `explain` reports.
    """
    try:
        for each in settings.listeners.bound:
            for bound in await bind_sockets(ListenerSettings(each.name, each.host, each.port)):
                bound.close()
    except OSError as error:
        return explain(error, settings)
    for path in settings.config.log_directories:
        if (in_use := directory_in_use(path)) is not None:
            return in_use
    return nested_directories(settings.config.log_directories) or unusable_directories(
        settings.config.log_directories
    )


def explain(error: Exception, settings: LoadedConfig) -> str:
    """The message for one of EXPECTED."""
    cause = error.__cause__ if isinstance(error, MetadataLost) else error
    if isinstance(cause, OSError) and cause.errno in LIMITS:
        return f"{error_text(cause)}\n  {LIMITS[cause.errno]}"
    match error:
        case WrongDirectory():
            return explain_wrong_directory(error, settings)
        case MetadataLost() if settings.config.is_cluster_member:
            return (
                f"the metadata log {error.location} cannot be used: {error.what}\n  nothing was "
                "changed: correct zookeeper.connect if this is not the cluster of this broker, or "
                "restore ZooKeeper from a backup that has it (docs/guides/recovering.md)"
            )
        case CorruptMetadataError() if settings.config.is_cluster_member:
            return (
                f"{error}\n  something else than a broker has created or changed it, below "
                f"{settings.config.zookeeper_connect}: delete it if it was created by hand, else "
                "restore ZooKeeper from a backup"
            )
        case NewerMetadata():
            return f"{error}\n  nothing is damaged: upgrade this broker, which has {__version__}"
        case NotConnected():
            return "\n  ".join(
                [str(error), *unknown_hosts(settings.config.zookeeper_connect or "")]
            )
        case ZnodeRefused():
            return f"{error}\n  it is below {settings.config.zookeeper_connect}"
        case ZnodeError():
            return (
                f"the znode {error.path} was deleted or changed by something else than a broker, "
                f"below {settings.config.zookeeper_connect}: restore ZooKeeper from a backup"
            )
        case StorageUnavailable():
            directories = ", ".join(settings.config.log_directories)
            return f"{error}\n  the messages above say why; mend it in {directories}"
        case BrokerError():
            advice = REFUSED_REGISTRATION.get(error.code)
            hint = f"\n  {advice}" if advice else ""
            return f"the cluster has not accepted this broker: {error}{hint}"
        case CorruptMetadataError() | CorruptLogError():
            return (
                f"{error}\n  the file is damaged: restore the directory from a backup, "
                f"or {OTHER_DIRECTORY} to start empty"
            )
        case socket.gaierror():
            hosts = ", ".join(sorted({each.host for each in settings.listeners.bound}))
            return f"cannot resolve {hosts}: {error.strerror}\n  {LISTEN_HINT}"
        case OSError(errno=errno.EADDRINUSE):
            return explain_port_in_use(error, settings.listeners.bound)
        case OSError(errno=errno.EADDRNOTAVAIL):
            return f"{error.strerror}\n  this machine has no such address: {LISTEN_HINT}"
        case BindError(errno=errno.EACCES):
            return f"{error.strerror}\n  ports below 1024 need root: {LISTEN_HINT}"
        case OSError(errno=errno.ENOSPC | errno.EDQUOT):
            where = error.filename or ", ".join(settings.config.log_directories)
            return f"{where}: {error.strerror}\n  free some space, or {OTHER_DIRECTORY}"
    return error_text(error)


def explain_end(error: BaseException, settings: LoadedConfig) -> str:
    """The message for one of EXPECTED that has ended a broker while it served."""
    match error:
        case NewerMetadata() | MetadataLost():  # which say what to do
            return explain(error, settings)
        case CorruptMetadataError() | ZooKeeperError() if settings.config.is_cluster_member:
            return explain(error, settings)
        case BrokerIdInUse() | AddressInUse():
            return str(error)
    directories = ", ".join(settings.config.log_directories)
    return (
        f"{error_text(error)}\n  the messages above say why; mend it in {directories}, and start "
        "the broker again"
    )


def error_text(error: BaseException) -> str:
    """Without the number of an OSError, and with the file that it is about."""
    if isinstance(error, OSError) and error.strerror:
        return f"{error.filename}: {error.strerror}" if error.filename else error.strerror
    return str(error)


def unknown_hosts(zookeeper_connect: str) -> list[str]:
    """A line for each host that has no address."""
    lines = []
    for each in zookeeper_connect.partition("/")[0].split(","):
        host = each.strip().rpartition(":")[0] or each.strip()
        try:
            socket.getaddrinfo(host.strip("[]"), None)
        except (OSError, UnicodeError) as error:
            lines.append(f"cannot resolve {host}: {getattr(error, 'strerror', error)}")
    return lines


def unclean_shutdown(error: Exception, directories: Iterable[str]) -> str:
    """A broker that could not write its last state; what the next start can do about it."""
    missing = [path for path in directories if not os.path.isdir(path)]
    if missing or isinstance(error, MetadataLost):
        return (
            f"the shutdown was not clean, and the next start cannot recover it: {error_text(error)}"
        )
    return f"the shutdown was not clean; the next start runs recovery: {error_text(error)}"


LISTEN_HINT = (
    "choose one with --listen HOST:PORT, such as localhost:9092, or :9092 for all addresses"
)


def explain_port_in_use(error: OSError, bound: Iterable[ListenerEndpoint]) -> str:
    ports = [each.port for each in bound if each.port]
    owners = [(port, owner) for port in ports if (owner := port_owner(port)) is not None]
    users = [f"  port {port} is used by {owner}" for port, owner in owners]
    user = "it" if users else "what uses the port"
    other = "choose another port with --listen HOST:PORT (port 0 picks a free one)"
    advice = f"  stop {user}, or {other}"
    return "\n".join([str(error.strerror), *users, advice])


def explain_wrong_directory(error: WrongDirectory, settings: LoadedConfig) -> str:
    for path in settings.config.log_directories:
        if (in_use := directory_in_use(path)) is not None:
            return in_use
        found = read_meta_properties(DiskFileSystem(), f"{path}/{META_PROPERTIES_NAME}")
        if found is None:
            continue
        if found.node_id not in (None, settings.config.node_id):
            return (
                f"{path} belongs to node {found.node_id}, and this is node "
                f"{settings.config.node_id}\n"
                f"  start it as that node with --set node.id={found.node_id}, or {OTHER_DIRECTORY}"
            )
    return f"{error}\n  {OTHER_DIRECTORY}, or restore the directories of one cluster"


def directory_in_use(path: str) -> str | None:
    """The process that has locked the directory, if it is another one and the system shows it."""
    owner = lock_owner(f"{path}/{LOCK_NAME}")
    if owner is None or owner.pid == os.getpid():
        return None
    return f"{path} is in use by {owner}\n  stop it, or {OTHER_DIRECTORY}"


def nested_directories(paths: Sequence[str]) -> str | None:
    """A log directory in another one, which would be taken for a partition of the outer one."""
    for outer in paths:
        for inner in paths:
            if os.path.realpath(inner).startswith(os.path.realpath(outer) + os.sep):
                return (
                    f"the log directory {inner} is in the log directory {outer}\n"
                    "  give directories of which none is in another one"
                )
        if (inner_name := data_directory_in(outer)) is not None:
            return (
                f"{outer} is not a data directory, but has one in it\n"
                f"  start it with --data {os.path.join(outer, inner_name)}, or {OTHER_DIRECTORY}"
            )
    return None


def data_directory_in(path: str) -> str | None:
    """The name of a broker's directory in a directory that is none."""
    if os.path.exists(os.path.join(path, META_PROPERTIES_NAME)):
        return None
    try:
        names = sorted(os.listdir(path))
    except OSError:
        return None
    is_one = (os.path.exists(os.path.join(path, name, META_PROPERTIES_NAME)) for name in names)
    return next((name for name, found in zip(names, is_one, strict=True) if found), None)


def unusable_directories(paths: Iterable[str]) -> str | None:
    """Why none of the log directories is usable; None if one is."""
    problems = []
    for path in paths:
        if (problem := problem_with_directory(path)) is None:
            return None
        problems.append(problem)
    return "\n".join([*problems, f"  {OTHER_DIRECTORY}"])


def problem_with_directory(path: str) -> str | None:
    try:
        os.makedirs(path, exist_ok=True)
    except FileExistsError:
        return f"{path} is a file, not a directory"
    except OSError as error:
        return f"the directory {path} cannot be created: {error.strerror}"
    if not os.access(path, os.W_OK | os.X_OK):
        return f"the directory {path} is not writable by this user"
    return None
