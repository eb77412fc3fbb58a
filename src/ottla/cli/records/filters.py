"""Which records to print: by key, by value, by header."""

from __future__ import annotations

import os
import re
from collections.abc import Callable

from ottla.cli.errors import CommandFailed
from ottla.cli.records.record import TopicRecord

RecordFilter = Callable[[TopicRecord], bool]


def parse_filter(key: str | None, grep: str | None, headers: list[str]) -> RecordFilter:
    """All conditions must hold."""
    conditions = [header_is(each) for each in headers]
    if key is not None:
        conditions.append(key_is(key))
    if grep is not None:
        conditions.append(value_matches(grep))
    if not conditions:
        return lambda _record: True
    return lambda record: all(condition(record) for condition in conditions)


def key_is(text: str) -> RecordFilter:
    key = os.fsencode(text)
    return lambda record: record.key == key


def value_matches(pattern: str) -> RecordFilter:
    """Values in UTF-8 are searched as text, so that `.` is a character, and others as bytes."""
    try:
        in_text = re.compile(as_utf8(pattern))
        in_bytes = bytes_pattern(pattern)
    except (re.error, OverflowError) as error:
        raise CommandFailed(f"--grep {pattern}: {error}", code=2) from error
    except RecursionError as error:
        raise CommandFailed("--grep: the pattern is nested too deeply", code=2) from error

    def matches(record: TopicRecord) -> bool:
        if record.value is None:
            return False
        try:
            return in_text.search(record.value.decode()) is not None
        except UnicodeDecodeError:
            return in_bytes is not None and in_bytes.search(record.value) is not None

    return matches


def as_utf8(text: str) -> str:
    """An argument that the locale could not decode, such as C, is taken for UTF-8."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return os.fsencode(text).decode("utf-8", "surrogateescape")
    return text


def bytes_pattern(pattern: str) -> re.Pattern[bytes] | None:
    """None for what only text can match, such as `\\u00e4` and `(?u)`."""
    try:
        return re.compile(os.fsencode(pattern))
    except (re.error, ValueError):
        return None


def header_is(text: str) -> RecordFilter:
    """`NAME` alone matches any value."""
    name, equals, value = text.partition("=")
    if not name:
        raise CommandFailed(f"--header {text or repr(text)}: expected NAME or NAME=VALUE", code=2)
    if not equals:
        return lambda record: any(each == name for each, _ in record.headers)
    header = (name, os.fsencode(value))
    return lambda record: header in record.headers
