"""What answers on an address, before librdkafka connects to it.

librdkafka retries for the whole timeout when it connects to a web server or to a TLS listener, and
its error does not say what the address is. One ApiVersions request distinguishes them.
"""

from __future__ import annotations

import socket

from ottla.cli.output.printable import printable
from ottla.config.addresses import Address

# Length, key 18, version 0, correlation id, no client id: every broker answers it.
API_VERSIONS = bytes.fromhex("0000000a 0012 0000 6f74746c ffff")
CORRELATION_ID = API_VERSIONS[8:12]
SHOWN_BYTES = 60
HEADER_BYTES = 8
TLS_ALERT = b"\x15\x03"
WAIT_S = 2.0  # a slow broker is left to librdkafka
TLS_PROTOCOLS = ("ssl", "sasl_ssl")


def listener_problem(address: Address, security_protocol: str, connect_s: float) -> str | None:
    """Why it is no Kafka listener of this protocol; None if it is one, or is slow.

    OSError if it accepts no connection.
    """
    if security_protocol.lower() in TLS_PROTOCOLS:
        # A broker without TLS only closes the connection.
        if has_tls(address, connect_s) or not first_response(address, connect_s):
            return None
        return "it responds without TLS, which -X security.protocol asks for"
    received = first_response(address, connect_s)
    if received is None or received[4:8] == CORRELATION_ID:
        return None
    if received.startswith(b"HTTP/"):
        return f"a web server responds, not a Kafka broker: {first_line(received)}"
    if received.startswith(TLS_ALERT) or (not received and has_tls(address, connect_s)):
        return "a TLS listener responds: use -X security.protocol=ssl"
    return f"what responds is not a Kafka broker: {first_line(received)}" if received else None


def first_response(address: Address, connect_s: float) -> bytes | None:
    """The first bytes; empty if the connection is closed, None if nothing arrives."""
    received = b""
    with socket.create_connection(address, connect_s) as connection:
        connection.settimeout(WAIT_S)
        try:
            connection.sendall(API_VERSIONS)
            while len(received) < HEADER_BYTES and (more := connection.recv(SHOWN_BYTES)):
                received += more
        except TimeoutError:
            return received or None
        except OSError:  # reset by the peer
            pass
    return received


def has_tls(address: Address, connect_s: float) -> bool:
    """Certificates are left to librdkafka."""
    import ssl

    context = ssl.create_default_context()
    context.check_hostname = False
    context.verify_mode = ssl.CERT_NONE
    with socket.create_connection(address, connect_s) as connection:
        connection.settimeout(WAIT_S)
        try:
            context.wrap_socket(connection).close()
        except ssl.SSLEOFError:
            return False
        except ssl.SSLError as error:  # an alert is TLS too, as for a certificate that is missing
            return error.reason not in ("WRONG_VERSION_NUMBER", "RECORD_LAYER_FAILURE")
        except OSError:
            return False
    return True


def first_line(received: bytes) -> str:
    return printable(received[:SHOWN_BYTES].splitlines()[0].decode("utf-8", "backslashreplace"))
