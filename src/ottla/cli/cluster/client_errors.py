"""Errors that librdkafka reports by itself, in the words of commands.

    GroupCoordinator: b:9092: Connect to ipv4#10.0.0.2:9092 failed: Connection refused (after 0ms in
    state CONNECT, 1 identical error(s) suppressed)

is `b:9092: Connection refused`, so that repetitions are recognized.
"""

from __future__ import annotations

import re

_ALL_DOWN = re.compile(r"\d+/\d+ brokers are down")  # said after the errors that are the reason
_PARTITION_LOST = re.compile(r"(\S+) \[(\d+)\]: desired partition is no longer available")
_BROKER = re.compile(
    r"(?:GroupCoordinator: |TxnCoordinator: )?(?:\w+://)?"
    r"(?P<address>\S+:\d+)(?:/(?:bootstrap|\d+))?: (?P<reason>.+)"
)
_CONNECT = re.compile(r"Connect to \S+ failed: ")
_STATE = re.compile(r" \(after \d+ms in state \w+(?:, \d+ identical error\(s\) suppressed)?\)")


def error_text(text: str) -> str | None:
    """None if the error says nothing that others do not."""
    if _ALL_DOWN.match(text):
        return None
    if lost := _PARTITION_LOST.match(text):
        return f"partition {lost[2]} of {lost[1]} no longer exists"
    if broker := _BROKER.fullmatch(text):
        reason = _CONNECT.sub("", _STATE.sub("", broker["reason"]))
        return f"{broker['address']}: {reason}"
    return text
