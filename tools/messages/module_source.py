"""Generates the module of one message: its classes, then encoding and decoding."""

from __future__ import annotations

from collections.abc import Callable

from tools.messages.decoder_source import DecoderSource
from tools.messages.encoder_source import EncoderSource
from tools.messages.functions import Functions
from tools.messages.layout import code_name, default_source, has_records, python_type
from tools.messages.schema import FieldSchema, MessageSchema, Schema, StructSchema

FROM_MESSAGE = {"refuse_field", "refuse_null_field", "FrameSegment"}


def module_source(schema: Schema, message: MessageSchema, path: str) -> str:
    decoders, encoders = DecoderSource(message), EncoderSource(message)
    read_table = version_table(message, decoders.root)
    write_table = version_table(message, encoders.root)
    classes = [class_source(schema, message, struct, encoders.kept) for struct in order(message)]
    body = "\n\n".join([*classes, *decoders.functions.sources, *encoders.functions.sources])
    tables = (
        f"{message.name}.DECODERS = {{\n{read_table}}}\n"
        f"{message.name}.ENCODERS = {{\n{write_table}}}\n"
    )
    about = f"{message.name}, versions {message.versions}"
    head = f'"""Generated from {path}: {about}. Do not edit."""'
    used = imports(message, body, decoders.functions, encoders.functions)
    return f"{head}\n\n{used}\n\n\n{body}\n\n{tables}"


def order(message: MessageSchema) -> list[StructSchema]:
    """The message itself first."""
    return [message.root, *message.structs.values()]


def version_table(message: MessageSchema, root: Callable[[int], str]) -> str:
    return "".join(f"    {version}: {root(version)},\n" for version in message.versions)


def imports(message: MessageSchema, body: str, *functions: Functions) -> str:
    helpers = set().union(*(each.helpers for each in functions))
    base = "RecordsMessage" if has_records(message, message.root) else "Message"
    wanted = {base} | (helpers & FROM_MESSAGE)
    if message.structs:
        wanted.add("Struct")
    if "FrameSegment" in body:
        wanted.add("FrameSegment")
    lines = ["from __future__ import annotations", ""]
    if "Sequence[" in body:
        lines.append("from collections.abc import Sequence")
    formats = sorted(set().union(*(each.formats for each in functions)))
    if formats:
        lines.append("from struct import Struct as Layout")
    lines.append("")
    if "ZERO_UUID" in body:
        lines.append("from ottla.base.uuids import ZERO_UUID")
    lines.append(f"from ottla.protocol.message import {', '.join(sorted(wanted))}")
    primitives = sorted(helpers - FROM_MESSAGE)
    if primitives:
        names = "".join(f"    {name},\n" for name in primitives)
        lines.append(f"from ottla.protocol.primitives import (\n{names})")
    return "\n".join([*lines, "", *format_lines(formats, functions)])


def format_lines(formats: list[str], functions: tuple[Functions, ...]) -> list[str]:
    lines = []
    decoders, encoders = functions
    for codes in formats:
        if codes in decoders.formats:
            lines.append(f'_unpack_{code_name(codes)} = Layout(">{codes}").unpack_from')
        if codes in encoders.formats:
            lines.append(f'_pack_{code_name(codes)} = Layout(">{codes}").pack')
    return lines


def class_source(
    schema: Schema, message: MessageSchema, struct: StructSchema, kept: set[str]
) -> str:
    is_root = struct is message.root
    base = "Struct"
    if is_root:
        base = "RecordsMessage" if has_records(message, struct) else "Message"
    lines = [f"class {struct.name}({base}):"]
    is_kept = struct.name in kept
    lines.append(f"    __slots__ = ({slots(struct, is_kept)})")
    if is_root:
        lines += root_constants(schema, message)
    lines.append("")
    lines += init_source(struct, is_kept)
    if is_kept:
        lines += keep_source()
    return "\n".join(lines) + "\n"


def slots(struct: StructSchema, is_kept: bool) -> str:
    names = [f.name for f in struct.fields] + (["kept"] if is_kept else [])
    return "".join(f'"{name}", ' for name in names).rstrip(" ")


def root_constants(schema: Schema, message: MessageSchema) -> list[str]:
    lines = []
    if schema.api_key is not None:
        lines.append(f"    API_KEY = {schema.api_key}")
    if schema.record_type is not None:
        lines.append(f"    RECORD_TYPE = {schema.record_type}")
    lines.append(f"    VERSIONS = range({message.versions.first}, {message.versions.last + 1})")
    if message.flexible_from is not None:
        lines.append(f"    FLEXIBLE_FROM = {message.flexible_from}")
    return lines


def init_source(struct: StructSchema, is_kept: bool) -> list[str]:
    if not struct.fields:
        return ["    def __init__(self) -> None:", "        pass"]
    lines = ["    def __init__(", "        self,"]
    lines += [f"        {f.name}: {parameter(f)}," for f in struct.fields]
    lines.append("    ) -> None:")
    lines += [f"        self.{f.name}{assignment(f)}" for f in struct.fields]
    if is_kept:
        lines.append("        self.kept: dict[int, bytes] | None = None")
    return lines


def is_filled_in(field: FieldSchema) -> bool:
    """A struct that is always present, and whose default is its own object."""
    return field.is_struct and not field.is_array and "None" not in python_type(field)


def parameter(field: FieldSchema) -> str:
    name = python_type(field)
    return f"{name} | None = None" if is_filled_in(field) else f"{name} = {default_source(field)}"


def assignment(field: FieldSchema) -> str:
    if is_filled_in(field):
        return f": {field.type} = {field.type}() if {field.name} is None else {field.name}"
    return f" = {field.name}"


def keep_source() -> list[str]:
    return [
        "",
        "    def keep(self) -> None:",
        '        """Remember from now on how this is encoded. It must not change any more."""',
        "        self.kept = {}",
    ]
