"""A value that a version cannot carry is refused exactly where Apache Kafka refuses it."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

import pytest
from tests.support.message_values import (
    FULL,
    all_messages,
    default_value,
    draw_field,
    draw_value,
    message_named,
    struct_default,
    to_object,
)
from tests.support.oracle import Json, Oracle, Refused, from_base64
from tools.messages.schema import FieldSchema, MessageSchema, StructSchema, Versions
from tools.oracles.kafka_codec import KafkaCodec, to_json

from ottla.protocol.message import UnsupportedVersion

pytestmark = pytest.mark.java

NAMES = [message.name for message in all_messages()]
REFUSED = "refused"
Path = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Case:
    """A value of one version that is to be encoded in another."""

    message: MessageSchema
    made_in: int
    version: int
    value: dict[str, Any]
    field: str

    def question(self, kafka: KafkaCodec) -> Json:
        return {
            "op": "message.encode",
            "class": kafka.class_of(self.message),
            "version": self.version,
            "json_version": self.made_in,
            "json": to_json(self.message, self.value),
        }

    def encode_here(self) -> bytes | str:
        try:
            return to_object(self.message, self.made_in, self.value).encode(self.version)
        except UnsupportedVersion:
            return REFUSED


@pytest.mark.parametrize("name", NAMES)
def test_a_field_that_a_version_lacks_is_refused_where_kafka_refuses_it(
    name: str, kafka: KafkaCodec, oracle: Oracle, seed: int
) -> None:
    cases = list(cases_with_foreign_fields(message_named(name), Random(seed)))
    check(cases, kafka, oracle, seed)


@pytest.mark.parametrize("name", NAMES)
def test_null_is_refused_in_the_versions_that_cannot_carry_it(
    name: str, kafka: KafkaCodec, oracle: Oracle, seed: int
) -> None:
    cases = list(cases_with_null(message_named(name), Random(seed)))
    check(cases, kafka, oracle, seed)
    assert {case.encode_here() for case in cases} <= {REFUSED}


def check(cases: list[Case], kafka: KafkaCodec, oracle: Oracle, seed: int) -> None:
    answers = oracle.ask_many([case.question(kafka) for case in cases])
    for case, answer in zip(cases, answers, strict=True):
        theirs = REFUSED if isinstance(answer, Refused) else from_base64(answer["bytes"])
        where = f"{case.field} in version {case.version} (OTTLA_SEED={seed}): {answer!r}"
        assert case.encode_here() == theirs, where


def cases_with_foreign_fields(message: MessageSchema, random: Random) -> Iterator[Case]:
    """For every field, and every version that lacks it: a value where this field alone is set."""
    for struct, path, lived in structs_in(message):
        for field in struct.fields:
            made_in = shared_version(message, lived, field.versions)
            lacking = [v for v in message.versions if v in lived and v not in field.versions]
            if made_in is None:
                continue
            value = value_with_item_at(message, path, made_in)
            at_path(value, path)[field.name] = draw_set(message, field, made_in, random)
            for version in lacking:
                yield Case(message, made_in, version, value, f"{struct.name}.{field.name}")


def cases_with_null(message: MessageSchema, random: Random) -> Iterator[Case]:
    """For every field that may be null in some versions: null in each of the others."""
    for struct, path, lived in structs_in(message):
        for field in (field for field in struct.fields if field.nullable is not None):
            for version in message.versions:
                if (
                    version in lived
                    and version in field.versions
                    and not field.is_nullable(version)
                ):
                    value = copy.deepcopy(draw_value(message, version, random, FULL))
                    at_path(value, path)[field.name] = None
                    yield Case(message, version, version, value, f"{struct.name}.{field.name}")


def structs_in(message: MessageSchema) -> Iterator[tuple[StructSchema, Path, Versions]]:
    """Every struct, the fields that lead to it, and the versions in which they all exist."""

    def below(
        struct: StructSchema, path: Path, lived: Versions
    ) -> Iterator[tuple[StructSchema, Path, Versions]]:
        yield struct, path, lived
        for field in struct.fields:
            if field.is_struct:
                first = max(lived.first, field.versions.first)
                both = Versions(first, min(lived.last, field.versions.last))
                yield from below(message.structs[field.type], (*path, field.name), both)

    return below(message.root, (), message.versions)


def shared_version(message: MessageSchema, lived: Versions, versions: Versions) -> int | None:
    """The newest version that has both the struct and the field."""
    shared = [v for v in message.versions if v in lived and v in versions]
    return shared[-1] if shared else None


def draw_set(message: MessageSchema, field: FieldSchema, version: int, random: Random) -> Any:
    """A value that is not the default."""
    while True:
        value = draw_field(message, field, version, random, FULL)
        if value != default_value(message, field, version):
            return value


def value_with_item_at(message: MessageSchema, path: Path, version: int) -> dict[str, Any]:
    """Defaults all over, and at the end of the path one struct that is there to be changed."""
    value = struct_default(message, message.root, version)
    inside, struct = value, message.root
    for name in path:
        field = next(f for f in struct.fields if f.name == name)
        struct = message.structs[field.type]
        item = struct_default(message, struct, version)
        inside[name] = [item] if field.is_array else item
        inside = item
    return value


def at_path(value: dict[str, Any], path: Path) -> dict[str, Any]:
    """The struct there; the first item of every array on the way."""
    for name in path:
        inner = value[name]
        value = inner[0] if isinstance(inner, list) else inner
    return value
