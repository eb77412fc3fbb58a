"""Generated from schemas/describe_configs.schema: DescribeConfigsResponse, versions 1-4. Do not edit."""

from __future__ import annotations

from collections.abc import Sequence
from struct import Struct as Layout

from ottla.protocol.message import Message, Struct
from ottla.protocol.primitives import (
    read_compact_count,
    read_compact_string,
    read_count,
    read_nullable_string,
    read_string,
    skip_tags,
    uvarint,
    write_compact_string,
    write_nullable_string,
    write_string,
)

_unpack_tbt = Layout(">?b?").unpack_from
_pack_tbt = Layout(">?b?").pack
_pack_tbti = Layout(">?b?i").pack
_unpack_b = Layout(">b").unpack_from
_pack_b = Layout(">b").pack
_unpack_bB = Layout(">bB").unpack_from
_pack_bx = Layout(">bx").pack
_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack
_unpack_i = Layout(">i").unpack_from
_pack_i = Layout(">i").pack
_pack_ii = Layout(">ii").pack


class DescribeConfigsResponse(Message):
    __slots__ = ("throttle_time_ms", "results",)
    API_KEY = 32
    VERSIONS = range(1, 5)
    FLEXIBLE_FROM = 4

    def __init__(
        self,
        throttle_time_ms: int = 0,
        results: Sequence[DescribeConfigsResult] = (),
    ) -> None:
        self.throttle_time_ms = throttle_time_ms
        self.results = results


class DescribeConfigsSynonym(Struct):
    __slots__ = ("name", "value", "source",)

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        source: int = 0,
    ) -> None:
        self.name = name
        self.value = value
        self.source = source


class DescribeConfigsResourceResult(Struct):
    __slots__ = ("name", "value", "read_only", "config_source", "is_sensitive", "synonyms", "config_type", "documentation",)

    def __init__(
        self,
        name: str = "",
        value: str | None = "",
        read_only: bool = False,
        config_source: int = -1,
        is_sensitive: bool = False,
        synonyms: Sequence[DescribeConfigsSynonym] = (),
        config_type: int = 0,
        documentation: str | None = "",
    ) -> None:
        self.name = name
        self.value = value
        self.read_only = read_only
        self.config_source = config_source
        self.is_sensitive = is_sensitive
        self.synonyms = synonyms
        self.config_type = config_type
        self.documentation = documentation


class DescribeConfigsResult(Struct):
    __slots__ = ("error_code", "error_message", "resource_type", "resource_name", "configs",)

    def __init__(
        self,
        error_code: int = 0,
        error_message: str | None = "",
        resource_type: int = 0,
        resource_name: str = "",
        configs: Sequence[DescribeConfigsResourceResult] = (),
    ) -> None:
        self.error_code = error_code
        self.error_message = error_message
        self.resource_type = resource_type
        self.resource_name = resource_name
        self.configs = configs


def _read_describe_configs_synonyms_v1(data: memoryview, at: int, count: int) -> tuple[list[DescribeConfigsSynonym], int]:
    items: list[DescribeConfigsSynonym] = []
    for _ in range(count):
        name, at = read_string(data, at)
        value, at = read_nullable_string(data, at)
        (source,) = _unpack_b(data, at)
        at += 1
        items.append(DescribeConfigsSynonym(name, value, source))
    return items, at


def _read_describe_configs_resource_results_v1(data: memoryview, at: int, count: int) -> tuple[list[DescribeConfigsResourceResult], int]:
    items: list[DescribeConfigsResourceResult] = []
    for _ in range(count):
        name, at = read_string(data, at)
        value, at = read_nullable_string(data, at)
        read_only, config_source, is_sensitive = _unpack_tbt(data, at)
        at += 3
        count, at = read_count(data, at, 5)
        synonyms, at = _read_describe_configs_synonyms_v1(data, at, count) if count else ([], at)
        items.append(DescribeConfigsResourceResult(name, value, read_only, config_source, is_sensitive, synonyms, 0, ""))
    return items, at


def _read_describe_configs_results_v1(data: memoryview, at: int, count: int) -> tuple[list[DescribeConfigsResult], int]:
    items: list[DescribeConfigsResult] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message, at = read_nullable_string(data, at)
        (resource_type,) = _unpack_b(data, at)
        at += 1
        resource_name, at = read_string(data, at)
        count, at = read_count(data, at, 11)
        configs, at = _read_describe_configs_resource_results_v1(data, at, count) if count else ([], at)
        items.append(DescribeConfigsResult(error_code, error_message, resource_type, resource_name, configs))
    return items, at


def _read_describe_configs_response_v1(data: memoryview, at: int) -> tuple[DescribeConfigsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 11)
    results, at = _read_describe_configs_results_v1(data, at, count) if count else ([], at)
    return DescribeConfigsResponse(throttle_time_ms, results), at


def _read_describe_configs_resource_results_v3(data: memoryview, at: int, count: int) -> tuple[list[DescribeConfigsResourceResult], int]:
    items: list[DescribeConfigsResourceResult] = []
    for _ in range(count):
        name, at = read_string(data, at)
        value, at = read_nullable_string(data, at)
        read_only, config_source, is_sensitive = _unpack_tbt(data, at)
        at += 3
        count, at = read_count(data, at, 5)
        synonyms, at = _read_describe_configs_synonyms_v1(data, at, count) if count else ([], at)
        (config_type,) = _unpack_b(data, at)
        at += 1
        documentation, at = read_nullable_string(data, at)
        items.append(DescribeConfigsResourceResult(name, value, read_only, config_source, is_sensitive, synonyms, config_type, documentation))
    return items, at


def _read_describe_configs_results_v3(data: memoryview, at: int, count: int) -> tuple[list[DescribeConfigsResult], int]:
    items: list[DescribeConfigsResult] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message, at = read_nullable_string(data, at)
        (resource_type,) = _unpack_b(data, at)
        at += 1
        resource_name, at = read_string(data, at)
        count, at = read_count(data, at, 14)
        configs, at = _read_describe_configs_resource_results_v3(data, at, count) if count else ([], at)
        items.append(DescribeConfigsResult(error_code, error_message, resource_type, resource_name, configs))
    return items, at


def _read_describe_configs_response_v3(data: memoryview, at: int) -> tuple[DescribeConfigsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_count(data, at, 11)
    results, at = _read_describe_configs_results_v3(data, at, count) if count else ([], at)
    return DescribeConfigsResponse(throttle_time_ms, results), at


def _read_describe_configs_synonyms_v4(data: memoryview, at: int, count: int) -> tuple[list[DescribeConfigsSynonym], int]:
    items: list[DescribeConfigsSynonym] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        value: str | None = None
        if data[at]:
            value, at = read_compact_string(data, at)
        else:
            at += 1
        source, more = _unpack_bB(data, at)
        at += 2
        if more:
            at = skip_tags(data, at - 1)
        items.append(DescribeConfigsSynonym(name, value, source))
    return items, at


def _read_describe_configs_resource_results_v4(data: memoryview, at: int, count: int) -> tuple[list[DescribeConfigsResourceResult], int]:
    items: list[DescribeConfigsResourceResult] = []
    for _ in range(count):
        name, at = read_compact_string(data, at)
        value: str | None = None
        if data[at]:
            value, at = read_compact_string(data, at)
        else:
            at += 1
        read_only, config_source, is_sensitive = _unpack_tbt(data, at)
        at += 3
        count, at = read_compact_count(data, at, 4)
        synonyms, at = _read_describe_configs_synonyms_v4(data, at, count) if count else ([], at)
        (config_type,) = _unpack_b(data, at)
        at += 1
        documentation: str | None = None
        if data[at]:
            documentation, at = read_compact_string(data, at)
        else:
            at += 1
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribeConfigsResourceResult(name, value, read_only, config_source, is_sensitive, synonyms, config_type, documentation))
    return items, at


def _read_describe_configs_results_v4(data: memoryview, at: int, count: int) -> tuple[list[DescribeConfigsResult], int]:
    items: list[DescribeConfigsResult] = []
    for _ in range(count):
        (error_code,) = _unpack_h(data, at)
        at += 2
        error_message: str | None = None
        if data[at]:
            error_message, at = read_compact_string(data, at)
        else:
            at += 1
        (resource_type,) = _unpack_b(data, at)
        at += 1
        resource_name, at = read_compact_string(data, at)
        count, at = read_compact_count(data, at, 9)
        configs, at = _read_describe_configs_resource_results_v4(data, at, count) if count else ([], at)
        at = skip_tags(data, at) if data[at] else at + 1
        items.append(DescribeConfigsResult(error_code, error_message, resource_type, resource_name, configs))
    return items, at


def _read_describe_configs_response_v4(data: memoryview, at: int) -> tuple[DescribeConfigsResponse, int]:
    (throttle_time_ms,) = _unpack_i(data, at)
    at += 4
    count, at = read_compact_count(data, at, 7)
    results, at = _read_describe_configs_results_v4(data, at, count) if count else ([], at)
    at = skip_tags(data, at) if data[at] else at + 1
    return DescribeConfigsResponse(throttle_time_ms, results), at


def _write_describe_configs_synonyms_v1(items: Sequence[DescribeConfigsSynonym], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        write_nullable_string(item.value, out)
        out += _pack_b(item.source)


def _write_describe_configs_resource_results_v1(items: Sequence[DescribeConfigsResourceResult], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        write_nullable_string(item.value, out)
        out += _pack_tbti(item.read_only, item.config_source, item.is_sensitive, len(item.synonyms))
        if item.synonyms:
            _write_describe_configs_synonyms_v1(item.synonyms, out)


def _write_describe_configs_results_v1(items: Sequence[DescribeConfigsResult], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        write_nullable_string(item.error_message, out)
        out += _pack_b(item.resource_type)
        write_string(item.resource_name, out)
        out += _pack_i(len(item.configs))
        if item.configs:
            _write_describe_configs_resource_results_v1(item.configs, out)


def _write_describe_configs_response_v1(item: DescribeConfigsResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.results))
    if item.results:
        _write_describe_configs_results_v1(item.results, out)


def _write_describe_configs_resource_results_v3(items: Sequence[DescribeConfigsResourceResult], out: bytearray) -> None:
    for item in items:
        write_string(item.name, out)
        write_nullable_string(item.value, out)
        out += _pack_tbti(item.read_only, item.config_source, item.is_sensitive, len(item.synonyms))
        if item.synonyms:
            _write_describe_configs_synonyms_v1(item.synonyms, out)
        out += _pack_b(item.config_type)
        write_nullable_string(item.documentation, out)


def _write_describe_configs_results_v3(items: Sequence[DescribeConfigsResult], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        write_nullable_string(item.error_message, out)
        out += _pack_b(item.resource_type)
        write_string(item.resource_name, out)
        out += _pack_i(len(item.configs))
        if item.configs:
            _write_describe_configs_resource_results_v3(item.configs, out)


def _write_describe_configs_response_v3(item: DescribeConfigsResponse, out: bytearray) -> None:
    out += _pack_ii(item.throttle_time_ms, len(item.results))
    if item.results:
        _write_describe_configs_results_v3(item.results, out)


def _write_describe_configs_synonyms_v4(items: Sequence[DescribeConfigsSynonym], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.value is None:
            out.append(0)
        else:
            write_compact_string(item.value, out)
        out += _pack_bx(item.source)


def _write_describe_configs_resource_results_v4(items: Sequence[DescribeConfigsResourceResult], out: bytearray) -> None:
    for item in items:
        write_compact_string(item.name, out)
        if item.value is None:
            out.append(0)
        else:
            write_compact_string(item.value, out)
        out += _pack_tbt(item.read_only, item.config_source, item.is_sensitive)
        if item.synonyms:
            out += uvarint(len(item.synonyms) + 1)
            _write_describe_configs_synonyms_v4(item.synonyms, out)
        else:
            out.append(1)
        out += _pack_b(item.config_type)
        if item.documentation is None:
            out.append(0)
        else:
            write_compact_string(item.documentation, out)
        out.append(0)


def _write_describe_configs_results_v4(items: Sequence[DescribeConfigsResult], out: bytearray) -> None:
    for item in items:
        out += _pack_h(item.error_code)
        if item.error_message is None:
            out.append(0)
        else:
            write_compact_string(item.error_message, out)
        out += _pack_b(item.resource_type)
        write_compact_string(item.resource_name, out)
        if item.configs:
            out += uvarint(len(item.configs) + 1)
            _write_describe_configs_resource_results_v4(item.configs, out)
        else:
            out.append(1)
        out.append(0)


def _write_describe_configs_response_v4(item: DescribeConfigsResponse, out: bytearray) -> None:
    out += _pack_i(item.throttle_time_ms)
    if item.results:
        out += uvarint(len(item.results) + 1)
        _write_describe_configs_results_v4(item.results, out)
    else:
        out.append(1)
    out.append(0)


DescribeConfigsResponse.DECODERS = {
    1: _read_describe_configs_response_v1,
    2: _read_describe_configs_response_v1,
    3: _read_describe_configs_response_v3,
    4: _read_describe_configs_response_v4,
}
DescribeConfigsResponse.ENCODERS = {
    1: _write_describe_configs_response_v1,
    2: _write_describe_configs_response_v1,
    3: _write_describe_configs_response_v3,
    4: _write_describe_configs_response_v4,
}
