"""Records as JSON, one a line: what `consume --format json` prints `produce --format json` reads.

Promises  nothing is lost on the way: what is not UTF-8 stands in base64 under `key_base64`,
          `value_base64`; null is null, and a missing key is null too.
"""

from __future__ import annotations

import base64
import binascii
import json
from typing import Any

from ottla.cli.moments import format_moment, parse_moment
from ottla.cli.records import Header, Record


class BadRecord(ValueError):
    """The input holds no record where one should be."""


def record_document(record: Record) -> dict[str, Any]:
    return {
        "topic": record.topic,
        "partition": record.partition,
        "offset": record.offset,
        "timestamp": format_moment(record.timestamp_ms) if record.timestamp_ms >= 0 else None,
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
    """Topic, partition and offset are not taken over: they belong to where it was."""
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
    moment_ms = parse_moment(found, 0) if isinstance(found, str) else None
    if moment_ms is None:
        raise BadRecord(f"timestamp: {found!r} is no time")
    return moment_ms
