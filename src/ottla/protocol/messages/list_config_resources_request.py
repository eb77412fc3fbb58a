"""Generated from schemas/list_config_resources.schema: ListConfigResourcesRequest, versions 0-1. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.protocol.message import Message, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_numbers,
    skip_tags,
    uvarint,
    write_numbers,
)



class ListConfigResourcesRequest(Message):
    __slots__ = ("resource_types",)
    API_KEY = 74
    VERSIONS = range(0, 2)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        resource_types: Sequence[int] = (),
    ) -> None:
        self.resource_types = resource_types


def _read_list_config_resources_request_v0(data: memoryview, at: int) -> tuple[ListConfigResourcesRequest, int]:
    at = skip_tags(data, at) if data[at] else at + 1
    return ListConfigResourcesRequest(()), at


def _read_list_config_resources_request_v1(data: memoryview, at: int) -> tuple[ListConfigResourcesRequest, int]:
    count, at = read_compact_count(data, at, 1)
    resource_types, at = read_numbers(data, at, count, "b") if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return ListConfigResourcesRequest(resource_types), at


def _write_list_config_resources_request_v0(item: ListConfigResourcesRequest, out: bytearray) -> None:
    if item.resource_types:
        refuse_field("ListConfigResourcesRequest.resource_types")
    out.append(0)


def _write_list_config_resources_request_v1(item: ListConfigResourcesRequest, out: bytearray) -> None:
    if item.resource_types:
        out += uvarint(len(item.resource_types) + 1)
        write_numbers(item.resource_types, "b", out)
    else:
        out.append(1)
    out.append(0)


ListConfigResourcesRequest.DECODERS = {
    0: _read_list_config_resources_request_v0,
    1: _read_list_config_resources_request_v1,
}
ListConfigResourcesRequest.ENCODERS = {
    0: _write_list_config_resources_request_v0,
    1: _write_list_config_resources_request_v1,
}
