"""What a tool printed, without what differs between any two clusters: ids, ports, places, times.

Pure functions of text.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

ID = r"[A-Za-z0-9_-]{22}"
UUID = r"[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}"
REPLACED = (
    (rf"((?:TopicId|Cluster ID|ClusterId): +){ID}", r"\1<id>"),
    (r"\b1[6-9]\d{11}\b", "<ms>"),  # a time of these years
    (r"(producerId: )\d+", r"\1<producer>"),
    (r"(crc: )\d+", r"\1<crc>"),  # of bytes with the producer's id
    (rf"\b[a-z]+-{UUID}", "<member>"),
)


def normalise(text: str, addresses: Mapping[int, str], directories: Mapping[int, str]) -> list[str]:
    """Its lines, with runs of blanks as one: the widths of columns follow the longest value."""
    for broker_id, directory in directories.items():
        text = text.replace(directory, f"<directory of {broker_id}>")
    for broker_id, address in addresses.items():
        host, _, port = address.rpartition(":")
        text = text.replace(address, f"<broker {broker_id}>")
        text = re.sub(rf"\b{port}\b", f"<port of {broker_id}>", text)
        text = text.replace(f"{host} ", "<host> ")
    for pattern, replacement in REPLACED:
        text = re.sub(pattern, replacement, text)
    return [" ".join(line.split()) for line in text.splitlines() if line.strip()]


def without_numbers(line: str) -> str:
    """Of what measures: how fast this machine is must not be compared."""
    return re.sub(r"-?\b\d+(?:\.\d+)?(?:E-?\d+)?\b|\bNaN\b", "<n>", line)


def sorted_json(line: str) -> str:
    """A line of JSON with its keys and lists in order; others as they are."""
    start = line.find("{")
    if start < 0:
        return line
    try:
        return line[:start] + json.dumps(_ordered(json.loads(line[start:])), sort_keys=True)
    except ValueError:
        return line


def _ordered(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _ordered(each) for name, each in value.items()}
    if isinstance(value, list):
        return sorted(map(_ordered, value), key=lambda each: json.dumps(each, sort_keys=True))
    return value
