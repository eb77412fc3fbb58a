"""Generated from schemas/data/control_record_type_schema.schema: ControlRecordTypeSchema, versions 0. Do not edit."""

from __future__ import annotations

from struct import Struct as Layout

from ottla.protocol.message import Message

_unpack_h = Layout(">h").unpack_from
_pack_h = Layout(">h").pack


class ControlRecordTypeSchema(Message):
    __slots__ = ("type",)
    VERSIONS = range(0, 1)

    def __init__(
        self,
        type: int = 0,
    ) -> None:
        self.type = type


def _read_control_record_type_schema_v0(data: memoryview, at: int) -> tuple[ControlRecordTypeSchema, int]:
    (type,) = _unpack_h(data, at)
    at += 2
    return ControlRecordTypeSchema(type), at


def _write_control_record_type_schema_v0(item: ControlRecordTypeSchema, out: bytearray) -> None:
    out += _pack_h(item.type)


ControlRecordTypeSchema.DECODERS = {
    0: _read_control_record_type_schema_v0,
}
ControlRecordTypeSchema.ENCODERS = {
    0: _write_control_record_type_schema_v0,
}
