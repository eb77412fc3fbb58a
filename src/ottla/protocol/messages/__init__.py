"""Generated message classes, loaded one by one when first used. Do not edit."""

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
