"""What a failing test shows of its brokers and topics, and what is done after a test broke one.

Promises  the sections of a report are short: the last lines of each log, a bounded part of each
          topic. A shared broker that a test has killed or paused runs again for the next test.
"""

from __future__ import annotations

from typing import Any

from ottla.testing.broker import RunningBroker, last_lines

LOG_LINES = 20
TOPIC_LINES = 40


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
