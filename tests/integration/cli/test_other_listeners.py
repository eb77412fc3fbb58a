"""Addresses where something else than a Kafka listener answers."""

from __future__ import annotations

import socket
import ssl
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress

import pytest
from tests.integration.cli.conftest import Command
from tests.integration.cli.ottla_command import ottla

from ottla.testing.broker import RunningBroker

Serve = Callable[[socket.socket], None]


@contextmanager
def server(serve: Serve) -> Iterator[str]:
    """Serves one connection after another; its address."""

    def run() -> None:
        with suppress(OSError):
            while True:
                connection, _ = listener.accept()
                with connection, suppress(OSError):
                    serve(connection)

    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=run)
        thread.start()
        yield f"127.0.0.1:{listener.getsockname()[1]}"
        listener.shutdown(socket.SHUT_RDWR)
        thread.join()


def web_server(connection: socket.socket) -> None:
    connection.recv(1000)
    connection.sendall(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n")


def mail_server(connection: socket.socket) -> None:
    connection.sendall(b"220 mail.example \x1b[31mESMTP\r\n")
    connection.recv(1000)


def tls_server(connection: socket.socket) -> None:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    context.set_ciphers("ADH:@SECLEVEL=0")  # needs no certificate
    context.wrap_socket(connection, server_side=True)


@pytest.mark.parametrize(
    ("serve", "reason"),
    [
        (web_server, "a web server responds, not a Kafka broker: HTTP/1.1 400 Bad Request"),
        (mail_server, r"what responds is not a Kafka broker: 220 mail.example \x1b[31mESMTP"),
        (tls_server, "a TLS listener responds: use -X security.protocol=ssl"),
    ],
)
@pytest.mark.parametrize("words", [("topics", "list"), ("consume", "t"), ("produce", "t", "x")])
def test_what_answers_is_named_at_once(serve: Serve, reason: str, words: tuple[str, ...]) -> None:
    with server(serve) as address:
        done = ottla(*words, "-b", address)
    assert done.returncode == 1
    assert f"{address}: {reason}\n" in done.stderr
    assert "did not respond within" not in done.stderr
    assert "ottla up" not in done.stderr  # the port is in use


@pytest.mark.xdist_group("command-line")
def test_a_listener_without_tls_is_named(command: Command) -> None:
    done = command("topics", "list", "-X", "security.protocol=SSL")
    assert done.code == 1
    assert "it responds without TLS, which -X security.protocol asks for" in done.err


@pytest.mark.xdist_group("command-line")
def test_other_addresses_are_tried(command: Command, shared_broker: RunningBroker) -> None:
    with server(web_server) as address:
        both = f"{address},{shared_broker.bootstrap_servers}"
        assert command("topics", "list", "-b", both).code == 0
