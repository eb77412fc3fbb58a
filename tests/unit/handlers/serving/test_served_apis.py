"""The table of what is announced, and the handlers that say they serve it."""

from __future__ import annotations

import inspect
import re
import typing
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from random import Random
from typing import Any

import pytest
from tests.support.message_values import DEFAULTS, FULL, draw_value, message_named, to_object

import ottla.handlers
from ottla.handlers.serving import registry
from ottla.handlers.serving.registry import handler_of
from ottla.handlers.serving.served_apis import INTER_BROKER, SERVED
from ottla.protocol.api_keys import APIS, ApiKey
from ottla.protocol.error_codes import ErrorCode
from ottla.protocol.message import Message, Struct
from ottla.protocol.messages import request_class, response_class
from ottla.protocol.messages.produce_request import ProduceRequest

FOLDER = Path(ottla.handlers.__file__).parent
# Their responses cannot contain the refusal: only directories have an error code.
WITHOUT_A_PLACE = {(ApiKey.DESCRIBE_LOG_DIRS, 1), (ApiKey.DESCRIBE_LOG_DIRS, 2)}
CELLS = [(key, version) for key in sorted(SERVED) for version in SERVED[key].versions]


@pytest.mark.parametrize("key", sorted(SERVED), ids=lambda key: key.name)
def test_the_table_and_the_handler_agree(key: ApiKey) -> None:
    served, handler = SERVED[key], handler_of(key)
    assert served.module == APIS[key].module
    assert handler.function.__module__ == f"ottla.handlers.{served.module}"
    assert set(served.versions) <= set(request_class(key).VERSIONS)


@pytest.mark.parametrize("key", sorted(SERVED), ids=lambda key: key.name)
def test_the_documentation_of_a_handler_has_the_versions_of_its_api(key: ApiKey) -> None:
    """So a schema with a new version fails here until its handler says what the version changes."""
    versions = SERVED[key].versions
    documented = inspect.getdoc(import_module(handler_of(key).function.__module__)) or ""
    opening = rf"{APIS[key].name} \(key {key:d}\), {described(versions)}[.:]"
    assert re.match(opening, documented), f"does not begin with {opening}"
    history = {int(number) for number in re.findall(r"\bv(\d+)\b", documented)}
    assert history <= set(versions)


def described(versions: range) -> str:
    if len(versions) == 1:
        return f"version {versions[0]}"
    return f"versions {versions[0]} {'and' if len(versions) == 2 else 'to'} {versions[-1]}"


@pytest.mark.parametrize("key", sorted(SERVED), ids=lambda key: key.name)
def test_a_handler_takes_the_request_and_gives_the_response_of_its_api(key: ApiKey) -> None:
    function = handler_of(key).function
    hints = typing.get_type_hints(function)
    first, second = inspect.signature(function).parameters
    assert hints[first] is request_class(key)
    assert second == "context"
    assert response_class(key).__name__ in str(hints["return"])


def test_each_file_serves_one_api() -> None:
    """What APIs share is in the folders, so that the listing is the table of APIs."""
    modules = {path.stem for path in FOLDER.glob("*.py")} - {"__init__"}
    served = {**SERVED, **INTER_BROKER}
    assert modules == {each.module for each in served.values()}
    for module in modules:
        import_module(f"ottla.handlers.{module}")
    assert sorted(registry._handlers) == sorted(served)


@pytest.mark.parametrize(
    ("key", "version"), CELLS, ids=[f"{key.name}-v{version}" for key, version in CELLS]
)
def test_every_version_can_encode_a_refusal(key: ApiKey, version: int) -> None:
    """With the error where this version has a place for it, for whatever was asked."""
    schema = message_named(request_class(key).__name__)
    for shape in (DEFAULTS, FULL):
        request = to_object(schema, version, draw_value(schema, version, Random(1), shape))
        if isinstance(request, ProduceRequest):
            request.acks = -1  # with acks=0 there is no response
        answer = handler_of(key).refuse(request, ErrorCode.POLICY_VIOLATION, "not today", version)
        reported = response_class(key).decode(answer.encode(version), version)
        if (key, version) in WITHOUT_A_PLACE or shape is DEFAULTS:
            continue
        assert ErrorCode.POLICY_VIOLATION in set(error_codes(reported))


def error_codes(value: Any) -> Iterator[int]:
    """Every error code anywhere in an answer."""
    if isinstance(value, list | tuple):
        for each in value:
            yield from error_codes(each)
    elif isinstance(value, Struct | Message):
        names: tuple[str, ...] = tuple(value.__slots__)
        for name in names:
            found = getattr(value, name)
            if name.endswith("error_code"):
                yield found
            else:
                yield from error_codes(found)
