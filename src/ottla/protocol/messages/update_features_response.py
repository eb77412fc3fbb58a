"""Generated from schemas/update_features.schema: UpdateFeaturesResponse, versions 0-2. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    skip_tags,
    uvarint,
    write_compact_string,
)

_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_ih = Layout(">ih").unpack_from
_pack_ih = Layout(">ih").pack


class UpdateFeaturesResponse(Message):
    __slots__ = ("throttle_time_ms", "error_code", "error_message", "results",)
    API_KEY = 57
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        throttle_time_ms: int = 0,
        error_code: int = 0,
        error_message: str | None = "",
        results: Sequence[UpdatableFeatureResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.error_code = error_code
        self.error_message = error_message
        self.results = results


class UpdatableFeatureResult(Struct):
    __slots__ = ("feature", "error_code", "error_message",)

    def __init__(
        self,
        feature: str = "",
        error_code: int = 0,
        error_message: str | None = "",
    ) -> None:
        self.feature = feature
        self.error_code = error_code
        self.error_message = error_message


def _read_updatable_feature_results_v0(data: memoryview, at: int, count: int) -> tuple[list[UpdatableFeatureResult], int]:
    items: list[UpdatableFeatureResult] = []
    for _ in range(count):
        feature, at = read_compact_string(data, at)
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(UpdatableFeatureResult(feature, error_code, error_message))
    return items, at


def _read_update_features_response_v0(data: memoryview, at: int) -> tuple[UpdateFeaturesResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    count, at = read_compact_count(data, at, 5)
    results, at = _read_updatable_feature_results_v0(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return UpdateFeaturesResponse(throttle_time_ms, error_code, error_message, results), at


def _read_update_features_response_v2(data: memoryview, at: int) -> tuple[UpdateFeaturesResponse, int]:
    throttle_time_ms, error_code = _unpack_ih(data, at)
    at += 6
    error_message: str | None = None
    if data[at]:
        error_message, at = read_compact_string(data, at)
    else:
        at += 1
    at = skip_tags(data, at) if data[at] else at + 1
    return UpdateFeaturesResponse(throttle_time_ms, error_code, error_message, ()), at


def _write_updatable_feature_results_v0(items: Sequence[UpdatableFeatureResult], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.feature, out)
        out += _pack_h(item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out.append(0)


def _write_update_features_response_v0(item: UpdateFeaturesResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    if item.results:
        out += uvarint(len(item.results) + 1)
        _write_updatable_feature_results_v0(item.results, out)
    else:
        out.append(1)
    out.append(0)


def _write_update_features_response_v2(item: UpdateFeaturesResponse, out: bytearray) -> None:
    out += _pack_ih(item.throttle_time_ms, item.error_code)
    if item.error_message is None:
        out.append(0)
    else:
        write_compact_string(item.error_message, out)
    out.append(0)


UpdateFeaturesResponse.DECODERS = {
    0: _read_update_features_response_v0,
    1: _read_update_features_response_v0,
    2: _read_update_features_response_v2,
}
UpdateFeaturesResponse.ENCODERS = {
    0: _write_update_features_response_v0,
    1: _write_update_features_response_v0,
    2: _write_update_features_response_v2,
}
