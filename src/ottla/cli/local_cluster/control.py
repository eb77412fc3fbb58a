"""Commands for a running `ottla cluster up`, over the socket in the cluster's directory.

A request is one line of JSON, `{"do": VERB, "id": NAME}`, and so is the response: `{"result": ...}`
or `{"error": TEXT}`.
"""

from __future__ import annotations

import json
import socket
import socketserver
from collections.abc import Callable
from contextlib import chdir, suppress
from typing import Any

from ottla.cli.errors import CommandFailed
from ottla.cli.local_cluster.directory import ClusterDirectory
from ottla.cli.local_cluster.lock import is_locked

REQUEST_S = 10.0  # for the request to arrive
REQUEST_BYTES_MAX = 4096

Handle = Callable[[dict[str, Any]], Any]


class ControlServer(socketserver.ThreadingMixIn, socketserver.UnixStreamServer):
    """One thread for each connection. `handle` may raise CommandFailed."""

    daemon_threads = False  # `server_close` waits until all responses are sent

    def __init__(self, directory: ClusterDirectory, handle: Handle) -> None:
        self.handle = handle
        self._path = directory.socket_path
        self._path.unlink(missing_ok=True)  # of a process that was killed
        # The name alone: paths of sockets have at most about 100 bytes.
        with chdir(directory.path):
            super().__init__(self._path.name, CommandHandler)

    def server_close(self) -> None:
        self._path.unlink(missing_ok=True)
        super().server_close()


class CommandHandler(socketserver.StreamRequestHandler):
    timeout = REQUEST_S

    def handle(self) -> None:
        assert isinstance(self.server, ControlServer)
        with suppress(OSError):
            response = respond(self.server.handle, self.rfile.readline(REQUEST_BYTES_MAX))
            self.wfile.write(json.dumps(response).encode() + b"\n")


def respond(handle: Handle, line: bytes) -> dict[str, Any]:
    try:
        request = json.loads(line)
        if not isinstance(request, dict):
            raise ValueError("a request is a JSON object")
        return {"result": handle(request)}
    except (ValueError, CommandFailed, OSError) as error:
        return {"error": str(error)}


def request(directory: ClusterDirectory, do: str, **fields: Any) -> Any:
    """The result. CommandFailed if there is no cluster, it does not run, or the command fails."""
    directory.require_cluster()
    try:
        answer = exchange(directory, json.dumps({"do": do, **fields}).encode() + b"\n")
    except (FileNotFoundError, ConnectionRefusedError):
        if is_locked(directory.lock_path):
            raise CommandFailed(
                f"the cluster in {directory.name} is starting or stopping",
                f"try again; or, if {directory.name}/{directory.socket_path.name} was deleted, "
                "stop it with Ctrl-C where it runs, and start it again",
            ) from None
        raise CommandFailed(
            f"the cluster in {directory.name} is not running",
            f"start it: ottla cluster up{directory.option()}",
        ) from None
    if not answer:
        raise CommandFailed(f"the cluster in {directory.name} ended before it responded")
    response = json.loads(answer)
    if "error" in response:
        raise CommandFailed(response["error"])
    return response["result"]


def exchange(directory: ClusterDirectory, line: bytes) -> bytes:
    with socket.socket(socket.AF_UNIX) as connection, chdir(directory.path):
        connection.connect(directory.socket_path.name)
        with suppress(BrokenPipeError):
            connection.sendall(line)
        answer = b""
        with suppress(ConnectionResetError):
            while part := connection.recv(65536):
                answer += part
        return answer
