"""Every generated class, in every version: against a slow encoder made from the same schemas.

That other people's codecs agree is shown in `tests/compatibility/messages/`.
"""

from __future__ import annotations

from random import Random
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from tests.support.message_pieces import joined, pieces_of
from tests.support.message_values import (
    EDGES,
    MIXED,
    Plain,
    all_messages,
    cells_with_values,
    draw_value,
    message_class,
    message_named,
    struct_default,
    to_object,
)
from tools.messages.layout import is_absent_when_default
from tools.messages.schema import MessageSchema

from ottla.protocol.api_keys import APIS, ApiKey
from ottla.protocol.message import Message
from ottla.protocol.messages import request_class, response_class

NAMES = [message.name for message in all_messages()]


@pytest.mark.parametrize("name", NAMES)
def test_every_version_is_encoded_as_its_schema_says_and_read_back(name: str) -> None:
    message = message_named(name)
    random = Random(name)
    for version in message.versions:
        for shape in (*EDGES, MIXED, MIXED):
            value = draw_value(message, version, random, shape)
            check_one(message, version, value)


def check_one(message: MessageSchema, version: int, value: Plain) -> None:
    ours = to_object(message, version, value)
    data = ours.encode(version)
    assert data == joined(pieces_of(message, version, value))
    assert b"".join(ours.encode_segments(version, bytearray())) == data
    assert message_class(message).decode(data, version) == ours


@settings(max_examples=300, deadline=None, suppress_health_check=list(HealthCheck))
@given(cells_with_values())
def test_any_value_of_any_message_comes_back(drawn: tuple[MessageSchema, int, Plain]) -> None:
    check_one(*drawn)


@pytest.mark.parametrize("name", NAMES)
def test_the_class_has_the_versions_of_its_schema_and_no_others(name: str) -> None:
    message = message_named(name)
    made = message_class(message)
    assert list(made.VERSIONS) == list(message.versions)
    assert list(made.DECODERS) == list(made.ENCODERS) == list(message.versions)
    assert message.flexible_from == made.FLEXIBLE_FROM


@pytest.mark.parametrize("name", NAMES)
def test_an_untouched_object_is_read_from_the_encoding_of_the_defaults(name: str) -> None:
    message = message_named(name)
    made = message_class(message)
    for version in message.versions:
        value = struct_default(message, message.root, version)
        if value == declared_defaults(message, version):
            assert made().encode(version) == joined(pieces_of(message, version, value))
            assert made.decode(made().encode(version), version) == made()


def declared_defaults(message: MessageSchema, version: int) -> Plain:
    """What the constructor gives, as far as plain values can express it."""
    untouched = message_class(message)()
    declared: dict[str, Any] = {}
    for field in message.root.fields:
        if version in field.versions:
            value = getattr(untouched, field.name)
            if isinstance(value, tuple):
                value = []
            if field.is_struct and not field.is_array and (value or is_absent_when_default(field)):
                value = struct_default(message, message.structs[field.type], version)
            declared[field.name] = value
    return declared


@pytest.mark.parametrize("key", list(APIS))
def test_classes_are_found_by_their_key(key: ApiKey) -> None:
    request, response = request_class(key), response_class(key)
    assert (request.__name__, response.__name__) == (
        f"{APIS[key].name}Request",
        f"{APIS[key].name}Response",
    )
    assert request.API_KEY == response.API_KEY == key  # type: ignore[attr-defined]
    assert request.VERSIONS == response.VERSIONS == APIS[key].versions
    assert (APIS[key].flexible_from, APIS[key].response_flexible_from) == (
        request.FLEXIBLE_FROM,
        response.FLEXIBLE_FROM,
    )


def test_no_class_can_be_given_a_field_that_it_does_not_have() -> None:
    for message in all_messages():
        made: Message = message_class(message)()
        with pytest.raises(AttributeError):
            made.no_such_field = 1  # type: ignore[attr-defined]
