"""Generated from schemas/describe_user_scram_credentials.schema: DescribeUserScramCredentialsRequest, versions 0. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_nullable_count,
    read_compact_string,
    skip_tags,
    uvarint,
    write_compact_string,
)



class DescribeUserScramCredentialsRequest(Message):
    __slots__ = ("users",)
    API_KEY = 50
    VERSIONS = range(0, 1)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        users: Sequence[UserName] | None = (),
    ) -> None:
        self.users = users


class UserName(Struct):
    __slots__ = ("name",)

    def __init__(
        self,
        name: str = "",
    ) -> None:
        self.name = name


def _read_user_names_v0(data: memoryview, at: int, count: int) -> tuple[list[UserName], int]:
    items: list[UserName] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(UserName(name))
    return items, at


def _read_describe_user_scram_credentials_request_v0(data: memoryview, at: int) -> tuple[DescribeUserScramCredentialsRequest, int]:
    count, at = read_compact_nullable_count(data, at, 2)
    users: list[UserName] | None = None
    if count >= 0:
        users, at = _read_user_names_v0(data, at, count)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeUserScramCredentialsRequest(users), at


def _write_user_names_v0(items: Sequence[UserName], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        out.append(0)


def _write_describe_user_scram_credentials_request_v0(item: DescribeUserScramCredentialsRequest, out: bytearray) -> None:
    if item.users:
        out += uvarint(len(item.users) + 1)
        _write_user_names_v0(item.users, out)
    else:
        out.append(0 if item.users is None else 1)
    out.append(0)


DescribeUserScramCredentialsRequest.DECODERS = {
    0: _read_describe_user_scram_credentials_request_v0,
}
DescribeUserScramCredentialsRequest.ENCODERS = {
    0: _write_describe_user_scram_credentials_request_v0,
}
