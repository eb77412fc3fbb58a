"""I: kio, a codec with one dataclass for every message and version."""

from __future__ import annotations

import io
from collections.abc import Callable, Container, Sequence
from dataclasses import Field, fields
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import Any, cast, get_args
from uuid import UUID

import kio.index
import kio.serial
from kio.schema.errors import ErrorCode
from kio.static.constants import EntityType
from tests.support.message_values import Plain
from tools.messages.schema import FieldSchema, MessageSchema, StructSchema, snake_case
from tools.oracles.codec import Case, Refusal

from ottla.base.uuids import ZERO_UUID

ERROR_CODES = sorted(ErrorCode)
TIME_MS_MAX = 10**13  # kio uses datetime, with a limited range
EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class KioCodec:
    letter = "I"
    name = "kio"

    def has(self, message: MessageSchema, version: int) -> bool:
        return kio_class(message, version) is not None

    def fit(self, case: Case) -> Case:
        root = kio_class(case.message, case.version)
        value = _walk(case.message, case.message.root, root, case.value, _fitted, _plain_struct)
        return Case(case.message, case.version, value)

    def encode_many(self, cases: Sequence[Case]) -> list[bytes | Refusal]:
        return [_encode(case) for case in cases]


def kio_class(message: MessageSchema, version: int) -> Any | None:
    return _class_named(message.name, version)


@cache
def _class_named(name: str, version: int) -> Any | None:
    kind = EntityType.data
    for suffix, meant in (("Request", EntityType.request), ("Response", EntityType.response)):
        if name.endswith(suffix):
            name, kind = name.removesuffix(suffix), meant
    if name.endswith("Header"):
        kind = EntityType.header
    try:
        return kio.index.load_entity_schema(snake_case(name), version, kind)
    except kio.index.UnknownEntity:
        return None


def _encode(case: Case) -> bytes | Refusal:
    root = kio_class(case.message, case.version)
    try:
        made = _walk(case.message, case.message.root, root, case.value, _converted, _kio_struct)
        out = io.BytesIO()
        kio.serial.entity_writer(root)(out, made)
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        return Refusal(f"{type(error).__name__}: {error}")
    return out.getvalue()


Convert = Callable[[Field[Any], Any], Any]
MakeStruct = Callable[[Any, Plain], Any]


def _walk(
    message: MessageSchema,
    struct: StructSchema,
    kio_type: Any,
    value: Plain,
    convert: Convert,
    make: MakeStruct,
) -> Any:
    """Traverse a plain value and kio's class together."""
    ours = {f.name: f for f in struct.fields}

    def one(field: FieldSchema, about: Field[Any], item: Any) -> Any:
        if field.is_struct:
            inner, annotation = message.structs[field.type], cast(Any, about.type)
            return _walk(message, inner, _inner_class(annotation), item, convert, make)
        return convert(about, item)

    made = {}
    for name, item in value.items():
        field, about = ours[name], _field_of(kio_type, name)
        if item is not None:
            item = (
                [one(field, about, i) for i in item] if field.is_array else one(field, about, item)
            )
        made[about.name if make is _kio_struct else name] = item
    return make(kio_type, made)


@cache
def _field_of(kio_type: Any, name: str) -> Field[Any]:
    theirs = {f.name: f for f in fields(kio_type)}
    return theirs[kio_name(name, theirs)]


def kio_name(name: str, theirs: Container[str]) -> str:
    """Timestamps have their own types without a unit; Python's keywords get an underscore."""
    known = (name, name.removesuffix("_ms"), name + "_")
    return next((each for each in known if each in theirs), name)


@cache
def _inner_class(annotation: Any) -> Any:
    """The dataclass in `X`, `X | None`, `tuple[X, ...]`, `tuple[X, ...] | None`."""
    if hasattr(annotation, "__dataclass_fields__"):
        return annotation
    return next((found for arg in get_args(annotation) if (found := _inner_class(arg))), None)


def _plain_struct(_: Any, made: Plain) -> Plain:
    return made


def _kio_struct(kio_type: Any, made: Plain) -> Any:
    return kio_type(**{k: tuple(v) if isinstance(v, list) else v for k, v in made.items()})


def _can_be_none(about: Field[Any]) -> bool:
    return _allows_none(cast(Any, about.type))


@cache
def _allows_none(annotation: Any) -> bool:
    return type(None) in get_args(annotation)


def _fitted(about: Field[Any], item: Any) -> Any:
    """The value nearest to `item` that kio supports."""
    match about.metadata["kafka_type"]:
        case "error_code":
            return int(ERROR_CODES[item % len(ERROR_CODES)])
        case "datetime_i64":
            is_no_time = item == -1 and _can_be_none(about)
            return item if is_no_time else abs(item) % TIME_MS_MAX
        case "timedelta_i64":
            return abs(item) % TIME_MS_MAX
        case "float64":
            return item if abs(item) < float("inf") else 0.5
    return item


def _converted(about: Field[Any], item: Any) -> Any:
    match about.metadata["kafka_type"]:
        case "error_code":
            return ErrorCode(item)
        case "datetime_i64":
            return None if item == -1 else EPOCH + timedelta(milliseconds=item)
        case "timedelta_i32" | "timedelta_i64":
            return timedelta(milliseconds=item)
        case "uuid":
            is_none = _can_be_none(about) and item == ZERO_UUID
            return None if is_none else UUID(bytes=item)
    return item
