"""Generates the table of APIs: keys, versions, listeners."""

from __future__ import annotations

from tools.messages.schema import MessageSchema, Schema, snake_case

HEAD = '''"""Generated from schemas/*.schema: every API, its key and versions. Do not edit."""

from enum import IntEnum
from typing import NamedTuple


class Api(NamedTuple):
    """What is known of an API before its message modules are loaded."""

    name: str
    versions: range
    flexible_from: int | None
    response_flexible_from: int | None
    on_broker: bool
    on_controller: bool
    stable_versions: range

    @property
    def module(self) -> str:
        return MODULES[self.name]


class ApiKey(IntEnum):
'''


def api_table_source(schemas: list[Schema]) -> str:
    apis = [schema for schema in schemas if schema.api_key is not None]
    keys = "".join(f"    {constant(s)} = {s.api_key}\n" for s in apis)
    rows = "".join(f"    ApiKey.{constant(s)}: {row(s)},\n" for s in apis)
    modules = "".join(f'    "{s.name}": "{snake_case(s.name)}",\n' for s in apis)
    return f"{HEAD}{keys}\n\nAPIS: dict[ApiKey, Api] = {{\n{rows}}}\n\nMODULES = {{\n{modules}}}\n"


def constant(schema: Schema) -> str:
    return snake_case(schema.name).upper()


def row(schema: Schema) -> str:
    request, response = schema.request, schema.response
    stable_end = request.versions.last + 1 if schema.unstable is None else schema.unstable
    return (
        f'Api("{schema.name}", {span(request)}, {request.flexible_from}, '
        f"{response.flexible_from}, {'broker' in schema.listeners}, "
        f"{'controller' in schema.listeners}, range({request.versions.first}, {stable_end}))"
    )


def span(message: MessageSchema) -> str:
    return f"range({message.versions.first}, {message.versions.last + 1})"


def loader_source() -> str:
    return '''"""Generated message classes, loaded one by one when first used. Do not edit."""

from functools import cache
from importlib import import_module
from typing import cast

from ottla.protocol.api_keys import APIS, ApiKey
from ottla.protocol.message import Message


@cache
def request_class(key: ApiKey) -> type[Message]:
    return _load(APIS[key].module + "_request", APIS[key].name + "Request")


@cache
def response_class(key: ApiKey) -> type[Message]:
    return _load(APIS[key].module + "_response", APIS[key].name + "Response")


def _load(module: str, name: str) -> type[Message]:
    return cast(type[Message], getattr(import_module(f"ottla.protocol.messages.{module}"), name))
'''
