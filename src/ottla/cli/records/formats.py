"""The output formats of records: values, JSON, YAML, or a template."""

from __future__ import annotations

import json
from collections.abc import Callable

from ottla.cli.output.yaml import to_yaml
from ottla.cli.records.json_format import record_document
from ottla.cli.records.record import Record
from ottla.cli.templates.parser import BadTemplate, parse_template
from ottla.cli.templates.printer import RecordContext, record_printer

FormatRecord = Callable[[Record, RecordContext], bytes]
TEXT_TEMPLATE = r"%v\n"


def record_formatter(form: str, null: bytes = b"") -> FormatRecord:
    if form == "json":
        return as_json
    if form == "yaml":
        return as_yaml
    if form == "text":
        form = TEXT_TEMPLATE
    elif "%" not in form:
        raise BadTemplate("expected text, json, yaml or a template such as '%k %v\\n'")
    return record_printer(parse_template(form), null)


def as_json(record: Record, _context: RecordContext) -> bytes:
    return json.dumps(record_document(record), ensure_ascii=False).encode() + b"\n"


def as_yaml(record: Record, _context: RecordContext) -> bytes:
    """One document for each record."""
    return b"---\n" + to_yaml(record_document(record)).encode() + b"\n"
