"""Generated from schemas/describe_cluster.schema: DescribeClusterRequest, versions 0-2. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message, refuse_field
from ottla.protocol.primitives import (
    skip_tags,
)

_unpack_tB = Layout(">?B").unpack_from
_unpack_tbtB = Layout(">?b?B").unpack_from
_pack_tbtx = Layout(">?b?x").pack
_unpack_tbB = Layout(">?bB").unpack_from
_pack_tbx = Layout(">?bx").pack
_pack_tx = Layout(">?x").pack


class DescribeClusterRequest(Message):
    __slots__ = ("include_cluster_authorized_operations", "endpoint_type", "include_fenced_brokers",)
    API_KEY = 60
    VERSIONS = range(0, 3)
    FLEXIBLE_FROM = 0

    def __init__(
        self,
        include_cluster_authorized_operations: bool = False,
        endpoint_type: int = 1,
        include_fenced_brokers: bool = False,
    ) -> None:
        self.include_cluster_authorized_operations = include_cluster_authorized_operations
        self.endpoint_type = endpoint_type
        self.include_fenced_brokers = include_fenced_brokers


def _read_describe_cluster_request_v0(data: memoryview, at: int) -> tuple[DescribeClusterRequest, int]:
    include_cluster_authorized_operations, more = _unpack_tB(data, at)
    at += 2
    if more:
        at = skip_tags(data, at - 1)
    return DescribeClusterRequest(include_cluster_authorized_operations, 1, False), at


def _read_describe_cluster_request_v1(data: memoryview, at: int) -> tuple[DescribeClusterRequest, int]:
    include_cluster_authorized_operations, endpoint_type, more = _unpack_tbB(data, at)
    at += 3
    if more:
        at = skip_tags(data, at - 1)
    return DescribeClusterRequest(include_cluster_authorized_operations, endpoint_type, False), at


def _read_describe_cluster_request_v2(data: memoryview, at: int) -> tuple[DescribeClusterRequest, int]:
    include_cluster_authorized_operations, endpoint_type, include_fenced_brokers, more = _unpack_tbtB(data, at)
    at += 4
    if more:
        at = skip_tags(data, at - 1)
    return DescribeClusterRequest(include_cluster_authorized_operations, endpoint_type, include_fenced_brokers), at


def _write_describe_cluster_request_v0(item: DescribeClusterRequest, out: bytearray) -> None:
    if item.endpoint_type != 1:
        refuse_field("DescribeClusterRequest.endpoint_type")
    if item.include_fenced_brokers:
        refuse_field("DescribeClusterRequest.include_fenced_brokers")
    out += _pack_tx(item.include_cluster_authorized_operations)


def _write_describe_cluster_request_v1(item: DescribeClusterRequest, out: bytearray) -> None:
    if item.include_fenced_brokers:
        refuse_field("DescribeClusterRequest.include_fenced_brokers")
    out += _pack_tbx(item.include_cluster_authorized_operations, item.endpoint_type)


def _write_describe_cluster_request_v2(item: DescribeClusterRequest, out: bytearray) -> None:
    out += _pack_tbtx(item.include_cluster_authorized_operations, item.endpoint_type, item.include_fenced_brokers)


DescribeClusterRequest.DECODERS = {
    0: _read_describe_cluster_request_v0,
    1: _read_describe_cluster_request_v1,
    2: _read_describe_cluster_request_v2,
}
DescribeClusterRequest.ENCODERS = {
    0: _write_describe_cluster_request_v0,
    1: _write_describe_cluster_request_v1,
    2: _write_describe_cluster_request_v2,
}
