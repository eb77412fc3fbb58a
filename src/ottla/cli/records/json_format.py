"""Records as JSON, one a line: `produce --format json` reads what `consume --format json` prints.

Promises  every key and value is preserved: bytes that are not UTF-8 are encoded as `key_base64`
          and `value_base64`. What is not such an object is refused, and the field is named.
"""

from __future__ import annotations

import base64
import binascii
import json
from codecs import BOM_UTF8, BOM_UTF16_BE, BOM_UTF16_LE
from collections.abc import Callable
from typing import Any, NoReturn

from ottla.cli.arguments.numbers import INT32_MAX, INT64_MAX
from ottla.cli.arguments.timestamps import format_timestamp, parse_timestamp
from ottla.cli.errors import did_you_mean
from ottla.cli.records.record import BadRecord, Header, TopicRecord

Pairs = list[tuple[str, Any]]
FIELDS = (
    "topic", "partition", "offset", "timestamp", "key", "key_base64", "value", "value_base64",
    "headers",
)  # fmt: skip
HEADER_FIELDS = ("name", "value", "value_base64")
BOMS_UTF16 = (BOM_UTF16_LE, BOM_UTF16_BE)
MS_DIGITS = 13  # of milliseconds since 1970, as `parse_timestamp` takes them
EXAMPLE = '{"key": "a", "value": "b"}'
HEADER_EXAMPLE = '[{"name": "a", "value": "b"}]'
INT_DIGITS_MAX = 4300  # of numbers that Python converts
JSON_VALUES = "if each line is a value, use --format json-values"


class Number(float):
    """A number with its digits, of which a float may keep only some."""

    __slots__ = ("text",)
    text: str

    def __new__(cls, text: str) -> Number:
        number = super().__new__(cls, text)
        number.text = text
        return number


def record_document(record: TopicRecord) -> dict[str, Any]:
    return {
        "topic": record.topic,
        "partition": record.partition if record.partition >= 0 else None,
        "offset": record.offset if record.offset >= 0 else None,
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


def record_from_json(line: bytes | str) -> TopicRecord:
    """A record with an offset is a copy: its topic, partition and offset say where it was read, and
    are ignored. In a record without an offset they say where it is written.
    """
    document = parse_json(line, as_object=without_duplicates)
    if not isinstance(document, dict):
        raise BadRecord(
            f"expected an object such as {EXAMPLE}, found {kind_of(document)}", JSON_VALUES
        )
    check_fields(document, FIELDS)
    if "value" not in document and "value_base64" not in document:
        raise BadRecord('there is no "value"', 'a tombstone has "value": null', JSON_VALUES)
    topic, partition, offset = where(document)
    return TopicRecord(
        content(document, "value"),
        content(document, "key"),
        headers(document.get("headers")),
        topic=topic if offset is None else "",
        partition=partition if offset is None else -1,
        timestamp_ms=timestamp(document.get("timestamp")),
    )


def json_value(line: bytes) -> TopicRecord:
    """A record whose value is the line itself, which must be JSON."""
    parse_json(line)
    return TopicRecord(line.removeprefix(BOM_UTF8).strip())


def parse_json(line: bytes | str, as_object: Callable[[Pairs], Any] = dict) -> Any:
    text = line if isinstance(line, str) else utf_8(line)
    try:
        return json.loads(
            text.rstrip(),
            parse_constant=refuse_constant,
            object_pairs_hook=as_object,
            parse_float=Number,
            parse_int=lambda text: int(text) if len(text) <= INT_DIGITS_MAX else Number(text),
        )
    except BadRecord:
        raise
    except json.JSONDecodeError as error:
        raise BadRecord(f"not JSON: {error.msg} at column {error.colno}") from error
    except RecursionError as error:
        raise BadRecord("not usable as JSON: nested too deeply") from error
    except ValueError as error:  # NaN
        raise BadRecord(f"not JSON: {error}") from error


def utf_8(line: bytes) -> str:
    """Not as `json.loads` decodes bytes, which guesses the encoding of each line."""
    if line.startswith(BOMS_UTF16) or b"\0" in line[:2]:
        raise BadRecord("not UTF-8, but UTF-16, it seems", "convert it: iconv -f utf-16 -t utf-8")
    try:
        return line.removeprefix(BOM_UTF8).decode()
    except UnicodeDecodeError as error:
        byte = f"0x{line.removeprefix(BOM_UTF8)[error.start]:02x}"
        raise BadRecord(f"not UTF-8: byte {byte} at column {error.start + 1}") from error


def without_duplicates(pairs: Pairs) -> dict[str, Any]:
    """Python would keep the last value of a name that an object has twice."""
    found = dict(pairs)
    if len(found) != len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise BadRecord(f"an object has {json.dumps(twice)} twice")
    return found


def refuse_constant(name: str) -> NoReturn:
    raise ValueError(f"{name} is not a JSON number")


def check_fields(document: dict[str, Any], known: tuple[str, ...], within: str = "") -> None:
    for name in document:
        if name not in known:
            question = did_you_mean(name, known)
            raise BadRecord(
                f"{within}unknown field {json.dumps(name)}" + (f"; {question}" if question else ""),
                *([] if within else [f"the fields are {', '.join(known)}", JSON_VALUES]),
            )
    for name in ("key", "value"):
        if name in document and f"{name}_base64" in document:
            raise BadRecord(f"{within}give either {name} or {name}_base64, not both")


def where(document: dict[str, Any]) -> tuple[str, int, int | None]:
    topic = document.get("topic")
    if topic is not None and not isinstance(topic, str):
        raise BadRecord(f"topic: expected text, found {kind_of(topic)}")
    partition = integer(document, "partition", INT32_MAX)
    return (
        topic or "",
        -1 if partition is None else partition,
        integer(document, "offset", INT64_MAX),
    )


def integer(document: dict[str, Any], name: str, highest: int) -> int | None:
    found = document.get(name)
    if found is None:
        return None
    if not isinstance(found, int) or isinstance(found, bool) or not 0 <= found <= highest:
        raise BadRecord(f"{name}: expected a number from 0, found {json.dumps(found)}")
    return found


def content(document: dict[str, Any], name: str, within: str = "") -> bytes | None:
    """A value that is neither text nor null is kept as compact JSON."""
    encoded = document.get(f"{name}_base64")
    if encoded is not None:
        if not isinstance(encoded, str):
            raise BadRecord(f"{within}{name}_base64: expected text, found {kind_of(encoded)}")
        try:
            return base64.b64decode(encoded, validate=True)
        except (ValueError, binascii.Error) as error:
            raise BadRecord(f"{within}{name}_base64: not base64: {error}") from error
    found = document.get(name)
    if found is None:
        return None
    try:
        return (found if isinstance(found, str) else compact_json(found)).encode()
    except RecursionError as error:
        raise BadRecord(f"{within}{name}: nested too deeply") from error
    except UnicodeEncodeError as error:
        raise BadRecord(f"{within}{name}: a lone surrogate is not Unicode text") from error


def compact_json(found: Any) -> str:
    """Numbers are written as they were given: `json.dumps` would round them."""
    match found:
        case Number():
            return found.text
        case list():
            return f"[{','.join(map(compact_json, found))}]"
        case dict():
            pairs = (f"{compact_json(name)}:{compact_json(each)}" for name, each in found.items())
            return f"{{{','.join(pairs)}}}"
    return json.dumps(found, ensure_ascii=False)


def headers(found: Any) -> tuple[Header, ...]:
    if found is None:
        return ()
    if not isinstance(found, list):
        raise BadRecord(
            f"headers: expected a list such as {HEADER_EXAMPLE}, found {kind_of(found)}"
        )
    return tuple(header(each) for each in found)


def header(document: Any) -> Header:
    within = "headers: "
    if not isinstance(document, dict) or not isinstance(document.get("name"), str):
        raise BadRecord(f"{within}expected objects with name and value, as in {HEADER_EXAMPLE}")
    check_fields(document, HEADER_FIELDS, within)
    if "value" not in document and "value_base64" not in document:
        raise BadRecord(f'{within}{document["name"]}: there is no "value"')
    return document["name"], content(document, "value", within)


def timestamp(found: Any) -> int:
    if found is None:
        return -1
    if isinstance(found, str) and len(found) > MS_DIGITS and found.isascii() and found.isdigit():
        found = int(found)  # after the year 9999
    if isinstance(found, int) and not isinstance(found, bool) and 0 <= found <= INT64_MAX:
        return found
    timestamp_ms = parse_timestamp(found, 0) if isinstance(found, str) else None
    if timestamp_ms is None or timestamp_ms < 0:
        raise BadRecord(
            f"timestamp: {json.dumps(found)} is not a time",
            'expected milliseconds since 1970 or "2024-02-14T09:30:00Z"',
        )
    return timestamp_ms


def kind_of(found: Any) -> str:
    match found:
        case None:
            return "null"
        case bool():
            return "true" if found else "false"
        case str():
            return "text"
        case int() | float():
            return "a number"
        case list():
            return "a list"
    return "an object"
