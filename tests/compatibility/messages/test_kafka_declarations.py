"""What Apache Kafka declares of its messages is what our schemas say.

Random values cannot show a tagged field that we do not know, a default that only an untouched
object has, or a number in a table. Here the declarations themselves are compared.
"""

from __future__ import annotations

import base64
from importlib import import_module
from typing import Any

import pytest
from tests.support.message_values import all_messages, message_named
from tests.support.oracle import Json, Oracle
from tools.messages.layout import is_absent_when_default
from tools.messages.schema import FieldSchema, MessageSchema, StructSchema, read_schemas
from tools.oracles.kafka_codec import KafkaCodec, java_name

from ottla.base.uuids import uuid_to_text
from ottla.protocol.api_keys import APIS, Api, ApiKey

pytestmark = pytest.mark.java

NAMES = [message.name for message in all_messages()]
KAFKA_TYPES = {"bool": "BOOLEAN"}
ZOOKEEPER_ERA = {4, 5, 6, 7}  # keys that are reserved, without versions


@pytest.mark.parametrize("name", NAMES)
def test_every_version_has_kafkas_fields(name: str, kafka: KafkaCodec, oracle: Oracle) -> None:
    message = message_named(name)
    layouts = oracle.ask("message.layouts", **{"class": kafka.class_of(message)})
    known = {version: layout for version, layout in enumerate(layouts) if layout is not None}
    assert list(known) == list(message.versions)
    for version in message.versions:
        assert layout_of(message, message.root, version) == known[version], f"version {version}"


def layout_of(message: MessageSchema, struct: StructSchema, version: int) -> Json:
    present = [f for f in struct.fields if version in f.versions]
    tags = {str(f.tag): field_of(message, f, version) for f in present if f.tag is not None}
    return {
        "fields": [field_of(message, f, version) for f in present if f.tag is None],
        "tags": tags if message.is_flexible(version) else None,
    }


def field_of(message: MessageSchema, field: FieldSchema, version: int) -> Json:
    compact = "COMPACT_" if message.is_flexible(version) and not field.is_plain else ""
    nullable = "NULLABLE_" if field.is_nullable(version) else ""
    array = f"{compact}{nullable}ARRAY" if field.is_array else ""
    if field.is_array:
        nullable = ""
    struct = None
    kind = KAFKA_TYPES.get(field.type, field.type.upper())
    if field.is_struct:
        struct = layout_of(message, message.structs[field.type], version)
        kind = f"{nullable}STRUCT"
    elif field.type in ("string", "bytes", "records"):
        kind = f"{compact}{nullable}{kind}"
    # Kafka's name of a field that begins with `KRaft` has no underscore after the K.
    return {
        "name": field.name.replace("k_raft", "kraft"),
        "array": array,
        "type": kind,
        "struct": struct,
    }


@pytest.mark.parametrize("name", NAMES)
def test_an_untouched_object_holds_kafkas_defaults(
    name: str, kafka: KafkaCodec, oracle: Oracle
) -> None:
    message = message_named(name)
    class_name = kafka.class_of(message)
    defaults = oracle.ask("message.defaults", **{"class": class_name})
    defaults[message.name] = defaults.pop(class_name.rpartition(".")[2])
    assert defaults.keys() == {struct.name for struct in message.all_structs()}
    for struct in message.all_structs():
        ours = defaults_of(message, struct)
        theirs = {java: value for java, value in defaults[struct.name].items() if java in ours}
        assert ours == in_our_form(struct, theirs), struct.name


def defaults_of(message: MessageSchema, struct: StructSchema) -> Json:
    module = import_module(f"ottla.protocol.messages.{message.module}")
    untouched = getattr(module, struct.name)()
    return {java_name(f.name): default_json(f, getattr(untouched, f.name)) for f in struct.fields}


def default_json(field: FieldSchema, value: Any) -> Json:
    if field.is_array or value is None:
        return value if value is None else list(value)
    if field.is_struct:
        return {}
    if field.type == "uuid":
        return uuid_to_text(value)
    return base64.b64encode(value).decode() if isinstance(value, bytes) else value


def in_our_form(struct: StructSchema, theirs: Json) -> Json:
    """Kafka's defaults, with the three that differ here on purpose."""
    reported = dict(theirs)
    for field in struct.fields:
        name = java_name(field.name)
        if is_absent_when_default(field) or (field.is_struct and field.tag is not None):
            reported[name] = [] if field.is_array else None  # we spare the default object
        elif field.type == "records" and field.nullable is None:
            reported[name] = ""  # null could not be encoded
        elif field.type == "bytes" and "ByteBuffer" in str(reported[name]):
            reported[name] = ""
    return reported


def test_the_table_of_apis_is_kafkas(oracle: Oracle) -> None:
    theirs = {about["key"]: about for about in oracle.ask("message.apis")}
    assert theirs.keys() - ZOOKEEPER_ERA == {int(key) for key in APIS}
    for key, api in APIS.items():
        assert api_json(key, api) == theirs[int(key)]


def api_json(key: ApiKey, api: Api) -> Json:
    listeners = {"broker": api.on_broker, "controller": api.on_controller}
    return {
        "name": api.name,
        "key": int(key),
        "lowest": api.versions[0],
        "highest": api.versions[-1],
        "highest_stable": api.stable_versions[-1],
        "listeners": [name for name, is_there in listeners.items() if is_there],
        "headers": {str(version): header_versions(key, api, version) for version in api.versions},
    }


def header_versions(key: ApiKey, api: Api, version: int) -> list[int]:
    request = api.flexible_from is not None and version >= api.flexible_from
    response = api.response_flexible_from is not None and version >= api.response_flexible_from
    if key == ApiKey.API_VERSIONS:
        response = False  # a client that asks for too new a version must understand the answer
    return [1 + request, 0 + response]


def test_keys_and_values_of_coordinators_have_kafkas_types(oracle: Oracle) -> None:
    ours = {s.name: s.record_type for s in read_schemas() if s.record_type is not None}
    assert ours == oracle.ask("message.record_types")
