"""What a failing test shows of its brokers and topics, and what is done after a test broke one.

Promises  the sections of a report are short: the last lines of each log, a bounded part of each
          topic. A shared broker that a test has killed or paused runs again for the next test.
"""

from __future__ import annotations

import socket
from contextlib import suppress
from pathlib import Path
from subprocess import TimeoutExpired
from typing import Any

from ottla.config.addresses import parse_address
from ottla.protocol.api_keys import ApiKey
from ottla.protocol.headers import encode_request
from ottla.protocol.messages.api_versions_request import ApiVersionsRequest
from ottla.testing.broker import BrokerFailed, RunningBroker, last_lines

LOG_LINES = 20
TOPIC_LINES = 40
ENDING_S = 5.0  # for a process that is ending


def log_size(broker: RunningBroker) -> int:
    """The size in bytes, without reading it."""
    return broker.log_path.stat().st_size if broker.log_path.exists() else 0


def log_since(broker: RunningBroker, position: int) -> str:
    """The last lines that the broker wrote after `position` bytes."""
    if not broker.log_path.exists():
        return ""
    with open(broker.log_path, "rb") as file:
        file.seek(position)
        return last_lines(file.read().decode(errors="replace"), LOG_LINES)


def topics_of(kafka: Any) -> str:
    """What the topics of a test hold."""
    try:
        return last_lines(str(kafka.dump()), TOPIC_LINES)
    except Exception as error:  # a report about one failure must not fail for another
        return f"could not be read: {error}"


def end_faults(broker: RunningBroker | None) -> None:
    """Faults that a test asked for would also hit what reports about it."""
    if broker is not None and broker.is_running and not broker.is_paused:
        with suppress(BrokerFailed):
            broker.faults.clear()


def settle(broker: RunningBroker) -> None:
    """Note what signals have done to a process: it may be stopped, or seem to run although a signal
    is about to end it.
    """
    note_pause(broker)
    if broker.is_running and not broker.is_paused and not answers(broker.bootstrap_servers):
        with suppress(TimeoutExpired):
            broker.wait_for_end(ENDING_S)
        note_pause(broker)  # on a busy machine a process stops some time after its signal


def note_pause(broker: RunningBroker) -> None:
    if broker.is_running and is_stopped(broker.pid):
        broker.is_paused = True


def is_stopped(pid: int) -> bool:
    """By SIGSTOP, where the system shows it."""
    try:
        state = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2]
    except OSError:
        return False
    return state.split()[:1] == ["T"]


def answers(address: str) -> bool:
    """Whether a broker answers a request, ApiVersions, there."""
    request = encode_request(ApiKey.API_VERSIONS, 0, 0, None, ApiVersionsRequest())
    try:
        with socket.create_connection(parse_address(address), ENDING_S) as connection:
            connection.sendall(b"".join(request))
            return bool(connection.recv(1))
    except OSError:
        return False


def revive(broker: RunningBroker, test: str) -> str | None:
    """Let a broker run that a test has left stopped or paused; the result is a warning about it."""
    advice = "tests that do this need a broker of their own: fixture fresh_kafka_broker"
    if not broker.is_running:
        code = broker.exit_code
        broker.start()
        return f"{test} left the Kafka broker stopped (exit code {code}); it was started; {advice}"
    if broker.is_paused:
        broker.resume()
        return f"{test} left the Kafka broker paused; it was resumed; {advice}"
    return None
