"""Generated from schemas/data/streams_group_topology_key.schema: StreamsGroupTopologyKey, versions 0. Do not edit."""

from __future__ import annotations


from ottla.protocol.message import Message
from ottla.protocol.primitives import (
    read_string,
    write_string,
)



class StreamsGroupTopologyKey(Message):
    __slots__ = ("group_id",)
    RECORD_TYPE = 23
    VERSIONS = range(0, 1)

    def __init__(
        self,
        group_id: str = "",
    ) -> None:
        self.group_id = group_id


def _read_streams_group_topology_key_v0(data: memoryview, at: int) -> tuple[StreamsGroupTopologyKey, int]:
    group_id, at = read_string(data, at)
    return StreamsGroupTopologyKey(group_id), at


def _write_streams_group_topology_key_v0(item: StreamsGroupTopologyKey, out: bytearray) -> None:
    write_string(item.group_id, out)


StreamsGroupTopologyKey.DECODERS = {
    0: _read_streams_group_topology_key_v0,
}
StreamsGroupTopologyKey.ENCODERS = {
    0: _write_streams_group_topology_key_v0,
}
