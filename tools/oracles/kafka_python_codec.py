"""P: the protocol package of kafka-python. It has the APIs that clients use."""

from __future__ import annotations

import pkgutil
import warnings
from collections.abc import Sequence
from functools import cache
from importlib import import_module
from typing import Any
from uuid import UUID

from tests.support.message_values import Plain, struct_default
from tools.messages.layout import is_absent_when_default
from tools.messages.schema import FieldSchema, MessageSchema, StructSchema
from tools.oracles.codec import Case, Refusal

from ottla.base.uuids import ZERO_UUID

# kafka-python has its own names for these, and keeps them as a set of bits.
BIT_FIELDS = {
    "cluster_authorized_operations": "authorized_operations",
    "topic_authorized_operations": "authorized_operations",
    "authorized_operations": "authorized_operations",
}


class KafkaPythonCodec:
    letter = "P"
    name = "kafka-python"

    def has(self, message: MessageSchema, version: int) -> bool:
        known = classes().get(message.name)
        return known is not None and version <= known._valid_versions[1]

    def fit(self, case: Case) -> Case:
        return case

    def encode_many(self, cases: Sequence[Case]) -> list[bytes | Refusal]:
        return [_encode(case) for case in cases]


@cache
def classes() -> dict[str, Any]:
    """Its message classes by name, found in the folders by subject."""
    with warnings.catch_warnings():
        # It reads its schemas with a deprecated function of the standard library.
        warnings.simplefilter("ignore", DeprecationWarning)
        for folder in ("admin", "consumer", "metadata", "producer"):
            package = import_module(f"kafka.protocol.{folder}")
            for found in pkgutil.iter_modules(package.__path__, package.__name__ + "."):
                import_module(found.name)
        import_module("kafka.protocol.sasl")
    return {made.__name__: made for base in _bases() for made in base.__subclasses__()}


def _bases() -> list[Any]:
    names = ("api_message.ApiMessage", "api_data.ApiData", "api_header.ApiHeader")
    return [pkgutil.resolve_name(f"kafka.protocol.{name}") for name in names]


def _encode(case: Case) -> bytes | Refusal:
    kind = classes()[case.message.name]
    try:
        made = _build(case.message, case.message.root, kind, case.value, case.version)
        if case.message.name.endswith("Header"):
            return bytes(made.encode(flexible=case.message.is_flexible(case.version)))
        return bytes(made.encode(version=case.version, header=False))
    except Exception as error:  # bare IndexError, struct.error, NotImplementedError, ...
        return Refusal(f"{type(error).__name__}: {error}")


def _build(
    message: MessageSchema, struct: StructSchema, kind: Any, value: Plain, version: int
) -> Any:
    theirs = kind._struct.fields
    ours = {f.name: f for f in struct.fields}
    defaults = struct_default(message, struct, version)

    def one(field: FieldSchema, name: str, item: Any) -> Any:
        if field.is_struct:
            inner = theirs[name].data_class
            if is_absent_when_default(field) and item == defaults[name]:
                return None
            return _build(message, message.structs[field.type], inner, item, version)
        if theirs[name].type_str == "bitfield":
            return {bit for bit in range(32) if item >> bit & 1}
        if field.type == "uuid":
            return None if item == ZERO_UUID else UUID(bytes=item)
        return item

    made = {}
    for name, item in value.items():
        field = ours[name]
        known = name if name in theirs else BIT_FIELDS.get(name, name)
        if item is not None:
            item = (
                [one(field, known, i) for i in item] if field.is_array else one(field, known, item)
            )
        made[known] = item
    return kind(version=version, **made)
