"""Decodes the JSON of a znode, which may have been edited by hand."""

from __future__ import annotations

import json
from typing import Any


def decode_object(data: bytes) -> dict[str, Any]:
    """ValueError unless it is a JSON object."""
    try:
        fields = json.loads(data)
    except RecursionError as error:
        raise ValueError("too many brackets") from error
    if not isinstance(fields, dict):
        raise ValueError("no JSON object")
    return fields


def whole_number(fields: dict[str, Any], name: str) -> int:
    """KeyError if it is missing, ValueError if it is something else."""
    value = fields[name]
    if type(value) is not int:  # no bool
        raise ValueError(f"{name} is no whole number")
    return value
