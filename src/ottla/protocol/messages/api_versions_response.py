"""Generated from schemas/api_versions.schema: ApiVersionsResponse, versions 0-4. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    check_tag_end,
    read_compact_count,
    read_compact_string,
    read_count,
    read_tag,
    read_tag_count,
    skip_tags,
    uvarint,
    write_compact_string,
    write_tags,
)

_unpack_t = Layout(">?").unpack_from
_pack_t = Layout(">?").pack
_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_hhB = Layout(">hhB").unpack_from
_unpack_hhh = Layout(">hhh").unpack_from
_pack_hhh = Layout(">hhh").pack
_unpack_hhhB = Layout(">hhhB").unpack_from
_pack_hhhx = Layout(">hhhx").pack
_pack_hhx = Layout(">hhx").pack
_pack_hi = Layout(">hi").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_unpack_q = Layout(">q").unpack_from
_pack_q = Layout(">q").pack


class ApiVersionsResponse(Message):
    __slots__ = ("error_code", "api_keys", "throttle_time_ms", "supported_features", "finalized_features_epoch", "finalized_features", "zk_migration_ready",)
    API_KEY = 18
    VERSIONS = range(0, 5)
    FLEXIBLE_FROM = 3

    def __init__(
        self,
        error_code: int = 0,
        api_keys: Sequence[ApiVersion] = (),
        throttle_time_ms: int = 0,
        supported_features: Sequence[SupportedFeatureKey] = (),
        finalized_features_epoch: int = -1,
        finalized_features: Sequence[FinalizedFeatureKey] = (),
        zk_migration_ready: bool = False,
    ) -> None:
        self.error_code = error_code
        self.api_keys = api_keys
        self.throttle_time_ms = throttle_time_ms
        self.supported_features = supported_features
        self.finalized_features_epoch = finalized_features_epoch
        self.finalized_features = finalized_features
        self.zk_migration_ready = zk_migration_ready


class ApiVersion(Struct):
    __slots__ = ("api_key", "min_version", "max_version",)

    def __init__(
        self,
        api_key: int = 0,
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.api_key = api_key
        self.min_version = min_version
        self.max_version = max_version


class SupportedFeatureKey(Struct):
    __slots__ = ("name", "min_version", "max_version",)

    def __init__(
        self,
        name: str = "",
        min_version: int = 0,
        max_version: int = 0,
    ) -> None:
        self.name = name
        self.min_version = min_version
        self.max_version = max_version


class FinalizedFeatureKey(Struct):
    __slots__ = ("name", "max_version_level", "min_version_level",)

    def __init__(
        self,
        name: str = "",
        max_version_level: int = 0,
        min_version_level: int = 0,
    ) -> None:
        self.name = name
        self.max_version_level = max_version_level
        self.min_version_level = min_version_level


def _read_api_versions_v0(data: memoryview, at: int, count: int) -> tuple[list[ApiVersion], int]:
    items: list[ApiVersion] = []
    for _ in range(count):
        api_key, min_version, max_version = _unpack_hhh(data, at)
        at += 6
        items.append(ApiVersion(api_key, min_version, max_version))
    return items, at


def _read_api_versions_response_v0(data: memoryview, at: int) -> tuple[ApiVersionsResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    count, at = read_count(data, at, 6)
    api_keys, at = _read_api_versions_v0(data, at, count) if count else ([], at)
    return ApiVersionsResponse(error_code, api_keys, 0, (), -1, (), False), at


def _read_api_versions_response_v1(data: memoryview, at: int) -> tuple[ApiVersionsResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    count, at = read_count(data, at, 6)
    api_keys, at = _read_api_versions_v0(data, at, count) if count else ([], at)
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    return ApiVersionsResponse(error_code, api_keys, throttle_time_ms, (), -1, (), False), at


def _read_api_versions_v3(data: memoryview, at: int, count: int) -> tuple[list[ApiVersion], int]:
    items: list[ApiVersion] = []
    for _ in range(count):
        api_key, min_version, max_version, more = _unpack_hhhB(data, at)
        at += 7
        if more:
            at = skip_tags(data, at - 1)
        items.append(ApiVersion(api_key, min_version, max_version))
    return items, at


def _read_supported_feature_keys_v3(data: memoryview, at: int, count: int) -> tuple[list[SupportedFeatureKey], int]:
    items: list[SupportedFeatureKey] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        min_version, max_version, more = _unpack_hhB(data, at)
        at += 5
        if more:
            at = skip_tags(data, at - 1)
        items.append(SupportedFeatureKey(name, min_version, max_version))
    return items, at


def _read_finalized_feature_keys_v3(data: memoryview, at: int, count: int) -> tuple[list[FinalizedFeatureKey], int]:
    items: list[FinalizedFeatureKey] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        max_version_level, min_version_level, more = _unpack_hhB(data, at)
        at += 5
        if more:
            at = skip_tags(data, at - 1)
        items.append(FinalizedFeatureKey(name, max_version_level, min_version_level))
    return items, at


def _read_api_versions_response_v3(data: memoryview, at: int) -> tuple[ApiVersionsResponse, int]:
    (error_code,) = _unpack_h(data, at)
    at += 2
    count, at = read_compact_count(data, at, 7)
    api_keys, at = _read_api_versions_v3(data, at, count) if count else ([], at)
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    supported_features: Sequence[SupportedFeatureKey] = ()
    finalized_features_epoch: int = -1
    finalized_features: Sequence[FinalizedFeatureKey] = ()
    zk_migration_ready: bool = False
    if not data[at]:
        at += 1
    else:
        more, at = read_tag_count(data, at)
        while more:
            more -= 1
            tag, end, at = read_tag(data, at)
            if tag == 0:
                count, at = read_compact_count(data, at, 6)
                supported_features, at = _read_supported_feature_keys_v3(data, at, count) if count else ([], at)
            elif tag == 1:
                (finalized_features_epoch,) = _unpack_q(data, at)
                at += 8
            elif tag == 2:
                count, at = read_compact_count(data, at, 6)
                finalized_features, at = _read_finalized_feature_keys_v3(data, at, count) if count else ([], at)
            elif tag == 3:
                (zk_migration_ready,) = _unpack_t(data, at)
                at += 1
            else:
                at = end
            check_tag_end(tag, at, end)
    return ApiVersionsResponse(error_code, api_keys, throttle_time_ms, supported_features, finalized_features_epoch, finalized_features, zk_migration_ready), at


def _write_api_versions_v0(items: Sequence[ApiVersion], out: bytearray) -> None:
    for item in items:
        out += _pack_hhh(item.api_key, item.min_version, item.max_version)


def _write_api_versions_response_v0(item: ApiVersionsResponse, out: bytearray) -> None:
    out += _pack_hi(item.error_code, len(item.api_keys))
    if item.api_keys:
        _write_api_versions_v0(item.api_keys, out)


def _write_api_versions_response_v1(item: ApiVersionsResponse, out: bytearray) -> None:
    out += _pack_hi(item.error_code, len(item.api_keys))
    if item.api_keys:
        _write_api_versions_v0(item.api_keys, out)
    out += _pack_i(item.throttle_time_ms)


def _write_api_versions_v3(items: Sequence[ApiVersion], out: bytearray) -> None:
    for item in items:
        out += _pack_hhhx(item.api_key, item.min_version, item.max_version)


def _write_supported_feature_keys_v3(items: Sequence[SupportedFeatureKey], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        out += _pack_hhx(item.min_version, item.max_version)


def _write_finalized_feature_keys_v3(items: Sequence[FinalizedFeatureKey], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        out += _pack_hhx(item.max_version_level, item.min_version_level)


def _write_api_versions_response_v3(item: ApiVersionsResponse, out: bytearray) -> None:
    out += _pack_h(item.error_code)
    if item.api_keys:
        out += uvarint(len(item.api_keys) + 1)
        _write_api_versions_v3(item.api_keys, out)
    else:
        out.append(1)
    out += _pack_i(item.throttle_time_ms)
    if not (item.supported_features or item.finalized_features_epoch != -1 or item.finalized_features or item.zk_migration_ready):
        out.append(0)
    else:
        tags: list[tuple[int, bytearray]] = []
        if item.supported_features:
            value = bytearray()
            if item.supported_features:
                value += uvarint(len(item.supported_features) + 1)
                _write_supported_feature_keys_v3(item.supported_features, value)
            else:
                value.append(1)
            tags.append((0, value))
        if item.finalized_features_epoch != -1:
            value = bytearray()
            value += _pack_q(item.finalized_features_epoch)
            tags.append((1, value))
        if item.finalized_features:
            value = bytearray()
            if item.finalized_features:
                value += uvarint(len(item.finalized_features) + 1)
                _write_finalized_feature_keys_v3(item.finalized_features, value)
            else:
                value.append(1)
            tags.append((2, value))
        if item.zk_migration_ready:
            value = bytearray()
            value += _pack_t(item.zk_migration_ready)
            tags.append((3, value))
        write_tags(tags, out)


ApiVersionsResponse.DECODERS = {
    0: _read_api_versions_response_v0,
    1: _read_api_versions_response_v1,
    2: _read_api_versions_response_v1,
    3: _read_api_versions_response_v3,
    4: _read_api_versions_response_v3,
}
ApiVersionsResponse.ENCODERS = {
    0: _write_api_versions_response_v0,
    1: _write_api_versions_response_v1,
    2: _write_api_versions_response_v1,
    3: _write_api_versions_response_v3,
    4: _write_api_versions_response_v3,
}
