"""Frames that are not requests, and versions that no broker serves."""

from __future__ import annotations

import struct

from tests.compatibility.differential.scripting import script
from tests.compatibility.differential.session import Session

from ottla.protocol.api_keys import APIS, ApiKey
from ottla.protocol.headers import encode_request
from ottla.protocol.message import Message
from ottla.protocol.messages.api_versions_request import ApiVersionsRequest
from ottla.protocol.messages.metadata_request import MetadataRequest


def framed(body: bytes) -> bytes:
    return struct.pack(">i", len(body)) + body


def header(key: int, version: int, client_id: bytes | None = b"c", tail: bytes = b"") -> bytes:
    name = (
        struct.pack(">h", -1)
        if client_id is None
        else struct.pack(">h", len(client_id)) + client_id
    )
    return struct.pack(">hhi", key, version, 7) + name + tail


def whole(request: Message, version: int) -> bytes:
    key = ApiKey(request.API_KEY)  # type: ignore[attr-defined]
    return b"".join(encode_request(key, version, 7, "c", request))[4:]


@script(ApiKey.API_VERSIONS, versions=[0])
def frames(session: Session) -> None:
    for size in (0, -1, -(2**31), 1, 2, 3, 4, 7, 2**31 - 1, 104_857_601):
        session.raw(f"a length of {size} and no more", struct.pack(">i", size), is_whole=False)
    for size in (1, 2, 3, 4, 8, 9, 10, 11):
        session.raw(f"{size} zero bytes", framed(bytes(size)))
    session.raw("http", b"GET / HTTP/1.1\r\nHost: here\r\n\r\n")
    session.raw("tls", bytes.fromhex("160301020001000100030300112233445566778899"))
    usual = whole(ApiVersionsRequest("a", "1"), 3)
    for at in range(len(usual)):
        session.raw(f"ApiVersions v3 cut to {at} bytes", framed(usual[:at]))
    session.raw("ApiVersions v3 and a byte", framed(usual + b"\0"))
    session.raw("ApiVersions v3 and ten bytes", framed(usual + b"0123456789"))
    session.raw("client id of null", framed(header(18, 0, None)))
    session.raw("client id of nothing", framed(header(18, 0, b"")))
    session.raw("client id that is not UTF-8", framed(header(18, 0, b"\xff\xfe")))
    session.raw("client id of -2", framed(struct.pack(">hhih", 18, 0, 7, -2)))
    session.raw("client id too long", framed(struct.pack(">hhih", 18, 0, 7, 99) + b"c"))
    session.raw(
        "unknown tagged field in the header",
        framed(header(18, 3, b"c", b"\1\x63\2xx") + b"\2a\2b\0"),
    )
    session.raw(
        "tagged fields out of order", framed(header(18, 3, b"c", b"\2\5\0\4\0") + b"\2a\2b\0")
    )
    session.raw("a tagged field twice", framed(header(18, 3, b"c", b"\2\5\0\5\0") + b"\2a\2b\0"))
    session.raw("tagged field too long", framed(header(18, 3, b"c", b"\1\5\x7f") + b"\2a\2b\0"))
    session.raw(
        "unknown tagged field in the body", framed(header(18, 3, b"c", b"\0") + b"\2a\2b\1\x63\2xx")
    )
    session.raw("metadata bomb", framed(bytes.fromhex("030000033c0c00b6")))
    for count in (-1, -2, 2**31 - 1, 1_000_000, 2):
        body = header(3, 1) + struct.pack(">i", count)
        session.raw(f"Metadata v1 with a count of {count}", framed(body))
    for text in (b"\xff", b"\xc3\xa9", b"\xed\xa0\x80"):
        body = header(3, 1) + struct.pack(">ih", 1, len(text)) + text
        session.raw(f"Metadata v1 for the topic {text.hex()}", framed(body), is_shown=False)
    null_name = header(3, 1) + struct.pack(">ih", 1, -1)
    session.raw("Metadata v1 with a null name", framed(null_name))
    request = MetadataRequest([])
    for version in (1, 9, 12):
        data = whole(request, version)
        session.raw(f"Metadata v{version} and a byte", framed(data + b"\0"), is_shown=False)
        session.raw(f"Metadata v{version} cut by one", framed(data[:-1]), is_shown=False)
    compact = header(3, 9, b"c", b"\0")
    for varint in (
        b"\xff\xff\xff\xff\x0f",
        b"\xff\xff\xff\xff\xff",
        b"\x80\x80\x80\x80\x10",
        b"\x80",
    ):
        session.raw(f"Metadata v9 with a count of {varint.hex()}", framed(compact + varint))


@script(ApiKey.API_VERSIONS, versions=[0])
def unserved_versions(session: Session) -> None:
    """What comes just before and just behind the versions of every API, and far behind."""
    for key, api in APIS.items():
        versions = api.stable_versions
        if not api.on_broker or not versions:
            continue
        beside = (versions[0] - 1, versions[-1] + 1, versions[-1] + 100, 32767, -1)
        for version in dict.fromkeys(beside):
            session.raw(f"{key.name} v{version}", framed(header(key, version, b"c", bytes(40))))
    for number in (4, 5, 6, 7, 95, 500, 32767, -1):
        session.raw(f"API {number}", framed(header(number, 0, b"c", bytes(20))))
    for version in (5, 6, 100, 32767):
        session.raw(f"ApiVersions v{version}", framed(header(18, version, b"c", b"\0\2a\2b\0")))
        session.raw(f"ApiVersions v{version}, empty", framed(header(18, version)))


@script(ApiKey.API_VERSIONS, versions=[0])
def controller_apis(session: Session) -> None:
    """What only controllers speak is not for clients."""
    for key, api in APIS.items():
        if not api.on_broker:
            for version in api.versions:
                session.raw(f"{key.name} v{version}", framed(header(key, version, b"c", bytes(40))))
