"""The output formats of records: values, JSON, YAML, or a template."""

from __future__ import annotations

import json
from collections.abc import Callable

from ottla.cli.output.printable import printable_bytes
from ottla.cli.output.yaml import to_yaml
from ottla.cli.records.json_format import record_document
from ottla.cli.records.record import TopicRecord
from ottla.cli.templates.parser import BadTemplate, parse_template
from ottla.cli.templates.printer import RecordContext, record_printer

FormatRecord = Callable[[TopicRecord, RecordContext], bytes]
TEXT_TEMPLATE = r"%v\n"


def record_formatter(form: str, null: bytes = b"", *, is_terminal: bool = False) -> FormatRecord:
    """On a terminal control characters of records are escaped."""
    if form == "json":
        return as_safe_json if is_terminal else as_json
    if form == "yaml":
        return as_safe_yaml if is_terminal else as_yaml
    if form == "text":
        form = TEXT_TEMPLATE
    elif "%" not in form:
        raise BadTemplate("expected text, json, yaml or a template such as '%k %v\\n'")
    return record_printer(parse_template(form), null, printable_bytes if is_terminal else None)


def as_json(record: TopicRecord, _context: RecordContext) -> bytes:
    return json.dumps(record_document(record), ensure_ascii=False).encode() + b"\n"


def as_safe_json(record: TopicRecord, context: RecordContext) -> bytes:
    line = as_json(record, context)
    if line[:-1].decode().isprintable():
        return line
    return json.dumps(record_document(record)).encode() + b"\n"


def as_yaml(record: TopicRecord, _context: RecordContext) -> bytes:
    """One document for each record."""
    return b"---\n" + to_yaml(record_document(record)).encode() + b"\n"


def as_safe_yaml(record: TopicRecord, context: RecordContext) -> bytes:
    """YAML with escaped control characters: they occur only in quoted scalars, which may have
    escapes."""
    text = as_yaml(record, context).decode()
    return "".join(
        char if char.isprintable() or char == "\n" else f"\\U{ord(char):08x}" for char in text
    ).encode()
