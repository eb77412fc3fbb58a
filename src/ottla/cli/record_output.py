"""Records in the form that was asked for: values, JSON, YAML, or by a template."""

from __future__ import annotations

import json
from collections.abc import Callable

from ottla.cli.json_records import record_document
from ottla.cli.record_printing import Around, record_printer
from ottla.cli.records import Record
from ottla.cli.templates import BadTemplate, parse_template
from ottla.cli.yaml_text import to_yaml

Write = Callable[[Record, Around], bytes]
TEXT_TEMPLATE = r"%v\n"


def record_writer(form: str, null: bytes = b"") -> Write:
    if form == "json":
        return as_json
    if form == "yaml":
        return as_yaml
    if form == "text":
        form = TEXT_TEMPLATE
    elif "%" not in form:
        raise BadTemplate("neither text, json, yaml nor a template such as '%k %v\\n'")
    return record_printer(parse_template(form), null)


def as_json(record: Record, _around: Around) -> bytes:
    return json.dumps(record_document(record), ensure_ascii=False).encode() + b"\n"


def as_yaml(record: Record, _around: Around) -> bytes:
    """A document of its own for each record."""
    return b"---\n" + to_yaml(record_document(record)).encode() + b"\n"
