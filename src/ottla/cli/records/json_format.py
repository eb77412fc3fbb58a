"""Records as JSON, one a line: `produce --format json` reads what `consume --format json` prints.

Promises  every key and value is preserved: bytes that are not UTF-8 are encoded as `key_base64`
          and `value_base64`.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from ottla.cli.arguments.timestamps import format_timestamp, parse_timestamp
from ottla.cli.records.record import Header, Record


class BadRecord(ValueError):
    """The input is not a record; the message says where and why."""


def record_document(record: Record) -> dict[str, Any]:
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": format_timestamp(record.timestamp_ms) if record.timestamp_ms >= 0 else None,
        **text_fields("key", record.key),
        **text_fields("value", record.value),
        "headers": [
            {"name": name, **text_fields("value", value)} for name, value in record.headers
        ],
    }


def text_fields(name: str, content: bytes | None) -> dict[str, str | None]:
    if content is None:
        return {name: None}
    try:
        return {name: content.decode()}
    except UnicodeDecodeError:
        return {f"{name}_base64": base64.b64encode(content).decode()}


def record_from_json(line: bytes | str) -> Record:
    """Topic, partition and offset are ignored: they describe where the record was read."""
    try:
        document = json.loads(line)
    except ValueError as error:
        raise BadRecord(f"no JSON: {error}") from error
    if not isinstance(document, dict):
        raise BadRecord('no JSON object: a record looks like {"key": "a", "value": "b"}')
    headers = document.get("headers") or []
    if not isinstance(headers, list):
        raise BadRecord("headers: expected a list")
    return Record(
        content(document, "value"),
        content(document, "key"),
        tuple(header(each) for each in headers),
        timestamp_ms=timestamp(document.get("timestamp")),
    )


def content(document: dict[str, Any], name: str) -> bytes | None:
    encoded = document.get(f"{name}_base64")
    if encoded is not None:
        try:
            return base64.b64decode(encoded, validate=True)
        except (TypeError, binascii.Error) as error:
            raise BadRecord(f"{name}_base64: {error}") from error
    found = document.get(name)
    if found is None or isinstance(found, str):
        return None if found is None else found.encode()
    return json.dumps(found, ensure_ascii=False, separators=(",", ":")).encode()


def header(document: Any) -> Header:
    if not isinstance(document, dict) or not isinstance(document.get("name"), str):
        raise BadRecord("headers: expected objects with name and value")
    return document["name"], content(document, "value")


def timestamp(found: Any) -> int:
    if found is None:
        return -1
    if isinstance(found, int):
        return found
    timestamp_ms = parse_timestamp(found, 0) if isinstance(found, str) else None
    if timestamp_ms is None:
        raise BadRecord(f"timestamp: {found!r} is not a time")
    return timestamp_ms
