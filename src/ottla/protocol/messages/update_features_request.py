"""Generated from schemas/update_features.schema: UpdateFeaturesRequest, versions 0-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct, refuse_field
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    skip_tags,
    uvarint,
    write_compact_string,
)

_unpack_tB = Layout(">?B").unpack_from
_pack_tx = Layout(">?x").pack
_unpack_htB = Layout(">h?B").unpack_from
_pack_htx = Layout(">h?x").pack
_unpack_hbB = Layout(">hbB").unpack_from
_pack_hbx = Layout(">hbx").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack


class UpdateFeaturesRequest(Message):
    __slots__ = ("timeout_ms", "feature_updates", "validate_only",)
    API_KEY = 57
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        timeout_ms: int = 60000,
        feature_updates: Sequence[FeatureUpdateKey] = (),
        validate_only: bool = False,
    ) -> None:
        self.timeout_ms = timeout_ms
        self.feature_updates = feature_updates
        self.validate_only = validate_only


class FeatureUpdateKey(Struct):
    __slots__ = ("feature", "max_version_level", "allow_downgrade", "upgrade_type",)

    def __init__(
        self,
        feature: str = "",
        max_version_level: int = 0,
        allow_downgrade: bool = False,
        upgrade_type: int = 1,
    ) -> None:
        self.feature = feature
        self.max_version_level = max_version_level
        self.allow_downgrade = allow_downgrade
        self.upgrade_type = upgrade_type


def _read_feature_update_keys_v0(data: memoryview, at: int, count: int) -> tuple[list[FeatureUpdateKey], int]:
    items: list[FeatureUpdateKey] = []
    for _ in range(count):
        feature, at = read_compact_string(data, at)
        max_version_level, allow_downgrade, more = _unpack_htB(data, at)
        at += 4
        if more:
            at = skip_tags(data, at - 1)
        items.append(FeatureUpdateKey(feature, max_version_level, allow_downgrade, 1))
    return items, at


def _read_update_features_request_v0(data: memoryview, at: int) -> tuple[UpdateFeaturesRequest, int]:
    (timeout_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 5)
    feature_updates, at = _read_feature_update_keys_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return UpdateFeaturesRequest(timeout_ms, feature_updates, False), at


def _read_feature_update_keys_v1(data: memoryview, at: int, count: int) -> tuple[list[FeatureUpdateKey], int]:
    items: list[FeatureUpdateKey] = []
    for _ in range(count):
        feature, at = read_compact_string(data, at)
        max_version_level, upgrade_type, more = _unpack_hbB(data, at)
        at += 4
        if more:
            at = skip_tags(data, at - 1)
        items.append(FeatureUpdateKey(feature, max_version_level, False, upgrade_type))
    return items, at


def _read_update_features_request_v1(data: memoryview, at: int) -> tuple[UpdateFeaturesRequest, int]:
    (timeout_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 5)
    feature_updates, at = _read_feature_update_keys_v1(data, at, count) if count else ([], at)
    validate_only, more = _unpack_tB(data, at)
    at += 2
    if more:
        at = skip_tags(data, at - 1)
    return UpdateFeaturesRequest(timeout_ms, feature_updates, validate_only), at


def _write_feature_update_keys_v0(items: Sequence[FeatureUpdateKey], out: bytearray) -> None:
    for item in items:
        if item.upgrade_type != 1:
            refuse_field("FeatureUpdateKey.upgrade_type")
        write_compact_string(item.feature, out)
        out += _pack_htx(item.max_version_level, item.allow_downgrade)


def _write_update_features_request_v0(item: UpdateFeaturesRequest, out: bytearray) -> None:
    if item.validate_only:
        refuse_field("UpdateFeaturesRequest.validate_only")
    out += _pack_i(item.timeout_ms)
    if item.feature_updates:
        out += uvarint(len(item.feature_updates) + 1)
        _write_feature_update_keys_v0(item.feature_updates, out)
    else:
        out.append(1)
    out.append(0)


def _write_feature_update_keys_v1(items: Sequence[FeatureUpdateKey], out: bytearray) -> None:
    for item in items:
        if item.allow_downgrade:
            refuse_field("FeatureUpdateKey.allow_downgrade")
        write_compact_string(item.feature, out)
        out += _pack_hbx(item.max_version_level, item.upgrade_type)


def _write_update_features_request_v1(item: UpdateFeaturesRequest, out: bytearray) -> None:
    out += _pack_i(item.timeout_ms)
    if item.feature_updates:
        out += uvarint(len(item.feature_updates) + 1)
        _write_feature_update_keys_v1(item.feature_updates, out)
    else:
        out.append(1)
    out += _pack_tx(item.validate_only)


UpdateFeaturesRequest.DECODERS = {
    0: _read_update_features_request_v0,
    1: _read_update_features_request_v1,
    2: _read_update_features_request_v1,
}
UpdateFeaturesRequest.ENCODERS = {
    0: _write_update_features_request_v0,
    1: _write_update_features_request_v1,
    2: _write_update_features_request_v1,
}
