"""Generates the encoding functions of a message: one per struct and layout."""

from __future__ import annotations

from tools.messages.functions import Functions, Lines
from tools.messages.layout import (
    STRUCT_CODES,
    has_records,
    is_set_source,
    regular_fields,
    tagged_fields,
)
from tools.messages.schema import FIXED_BYTES, FieldSchema, MessageSchema, StructSchema

PAD = "x"  # an empty section of tagged fields is one zero byte


class EncoderSource:
    def __init__(self, message: MessageSchema) -> None:
        self.message = message
        self.functions = Functions(message, "write")
        self.kept = {f.type for s in message.all_structs() for f in s.fields if f.is_kept}

    def root(self, version: int) -> str:
        return self.single(self.message.root, version)

    def single(self, struct: StructSchema, version: int) -> str:
        lines = Lines()
        _Body(self, struct, version, lines).write_fields()
        return self._finish(struct, "", f"item: {struct.name}", version, lines)

    def many(self, struct: StructSchema, version: int) -> str:
        lines = Lines()
        lines.add("for item in items:")
        lines.depth += 1
        is_kept = struct.name in self.kept
        if is_kept:
            self._write_recall(lines, version)
        _Body(self, struct, version, lines).write_fields()
        if is_kept:
            lines.add("if item.kept is not None:")
            lines.add(f"    item.kept[{version}] = bytes(out[start:])")
        lines.depth -= 1
        return self._finish(struct, "s", f"items: Sequence[{struct.name}]", version, lines)

    @staticmethod
    def _write_recall(lines: Lines, version: int) -> None:
        lines.add("start = len(out)")
        lines.add("if item.kept is not None:")
        lines.add(f"    known = item.kept.get({version})")
        lines.add("    if known is not None:")
        lines.add("        out += known")
        lines.add("        continue")

    def _finish(
        self, struct: StructSchema, plural: str, what: str, version: int, lines: Lines
    ) -> str:
        """Structs with records also take the list of segments, and return the open buffer."""
        if has_records(self.message, struct):
            lines.add("return out")
            signature = f"({what}, out: bytearray, segments: list[FrameSegment]) -> bytearray"
        else:
            signature = f"({what}, out: bytearray) -> None"
        body = lines.text() if lines.lines else "    pass\n"
        return self.functions.add(struct, plural, version, signature, body)


class _Body:
    """The statements that encode the fields of one struct in one version."""

    def __init__(
        self, source: EncoderSource, struct: StructSchema, version: int, lines: Lines
    ) -> None:
        self.source = source
        self.message = source.message
        self.functions = source.functions
        self.struct = struct
        self.version = version
        self.lines = lines
        self.run: list[tuple[str, str]] = []  # neighbouring fixed-width values: (code, expression)

    def write_fields(self) -> None:
        self._write_refusals()
        for field in regular_fields(self.struct, self.version):
            if field.nullable is not None and not field.is_nullable(self.version):
                self._write_null_refusal(field)
            self._write_field(field, f"item.{field.name}", "out")
        if self.message.is_flexible(self.version):
            self._write_tag_section()
        self._flush("out")

    def _write_refusals(self) -> None:
        """A value that this version does not have is rejected, unless it is ignorable."""
        for field in self.struct.fields:
            if self.version not in field.versions and not field.is_ignorable:
                refuse = self.functions.helper("refuse_field")
                self.lines.add(f"if {is_set_source(field, f'item.{field.name}')}:")
                self.lines.add(f'    {refuse}("{self.struct.name}.{field.name}")')

    def _write_null_refusal(self, field: FieldSchema) -> None:
        """Null is allowed in other versions, not in this one."""
        self._flush("out")
        refuse = self.functions.helper("refuse_null_field")
        self.lines.add(f"if item.{field.name} is None:")
        self.lines.add(f'    {refuse}("{self.struct.name}.{field.name}")')

    def _write_field(self, field: FieldSchema, value: str, out: str) -> None:
        if field.is_array:
            self._write_array(field, value, out)
        elif field.type in FIXED_BYTES:
            self.run.append((STRUCT_CODES[field.type], value))
        elif field.is_struct:
            self._write_struct(field, value, out)
        elif field.type == "records":
            self._write_records(field, value)
        elif field.type == "string" and field.is_nullable(self.version) and self._is_compact(field):
            self._write_nullable_string(value, out)
        else:
            self._flush(out)
            writer = self.functions.helper(self._writer_name(field))
            self.lines.add(f"{writer}({value}, {out})")

    def _write_nullable_string(self, value: str, out: str) -> None:
        """Nearly always null, which needs no call."""
        self._flush(out)
        self.lines.add(f"if {value} is None:")
        self.lines.add(f"    {out}.append(0)")
        self.lines.add("else:")
        self.lines.add(f"    {self.functions.helper('write_compact_string')}({value}, {out})")

    def _flush(self, out: str) -> None:
        if not self.run:
            return
        codes = "".join(code for code, _ in self.run)
        values = ", ".join(value for code, value in self.run if code != PAD)
        if values:
            pack = self.functions.format(codes, "pack")
            self.lines.add(f"{out} += {pack}({values})")
        else:
            self.lines.add(f"{out}.append(0)")
        self.run = []

    def _is_compact(self, field: FieldSchema) -> bool:
        return self.message.is_flexible(self.version) and not field.is_plain

    def _writer_name(self, field: FieldSchema) -> str:
        compact = "compact_" if self._is_compact(field) else ""
        nullable = "nullable_" if field.is_nullable(self.version) else ""
        return f"write_{compact}{nullable}{field.type}"

    def _write_array(self, field: FieldSchema, value: str, out: str) -> None:
        nullable = field.is_nullable(self.version)
        is_compact = self._is_compact(field)
        if not is_compact:
            count = f"-1 if {value} is None else len({value})" if nullable else f"len({value})"
            self.run.append(("i", count))
        self._flush(out)
        self.lines.add(f"if {value}:")
        self.lines.depth += 1
        if is_compact:
            uvarint = self.functions.helper("uvarint")
            self.lines.add(f"{out} += {uvarint}(len({value}) + 1)")
        self._write_items(field, value, out)
        self.lines.depth -= 1
        if is_compact:
            self.lines.add("else:")
            count = f"0 if {value} is None else 1" if nullable else "1"
            self.lines.add(f"    {out}.append({count})")

    def _write_items(self, field: FieldSchema, value: str, out: str) -> None:
        if field.is_struct:
            struct = self.message.structs[field.type]
            self._write_call(struct, self.source.many(struct, self.version), value, out)
        elif field.type == "string":
            kind = "compact_" if self._is_compact(field) else ""
            self.lines.add(f"{self.functions.helper(f'write_{kind}strings')}({value}, {out})")
        elif field.type == "uuid":
            self.lines.add(f'{out} += b"".join({value})')
        else:
            code = STRUCT_CODES[field.type]
            write = self.functions.helper("write_numbers")
            self.lines.add(f'{write}({value}, "{code}", {out})')

    def _write_call(self, struct: StructSchema, writer: str, value: str, out: str) -> None:
        if has_records(self.message, struct):
            self.lines.add(f"{out} = {writer}({value}, {out}, segments)")
        else:
            self.lines.add(f"{writer}({value}, {out})")

    def _write_struct(self, field: FieldSchema, value: str, out: str) -> None:
        struct = self.message.structs[field.type]
        writer = self.source.single(struct, self.version)
        self._flush(out)
        if not field.is_nullable(self.version):
            self._write_call(struct, writer, value, out)
            return
        null = 255 if field.tag is None else 0  # tagged structs use 0 for null
        self.lines.add(f"if {value} is None:")
        self.lines.add(f"    {out}.append({null})")
        self.lines.add("else:")
        self.lines.add(f"    {out}.append(1)")
        self.lines.depth += 1
        self._write_call(struct, writer, value, out)
        self.lines.depth -= 1

    def _write_records(self, field: FieldSchema, value: str) -> None:
        """The batch becomes a separate segment; a new buffer follows."""
        self._flush("out")
        if not field.is_nullable(self.version):
            self._write_null_refusal(field)
        if self._is_compact(field):
            uvarint = self.functions.helper("uvarint")
            self.lines.add(f"out += {uvarint}(0 if {value} is None else len({value}) + 1)")
        else:
            pack = self.functions.format("i", "pack")
            self.lines.add(f"out += {pack}(-1 if {value} is None else len({value}))")
        self.lines.add(f"if {value}:")
        self.lines.add("    segments.append(out)")
        self.lines.add(f"    segments.append({value})")
        self.lines.add("    out = bytearray()")

    def _write_tag_section(self) -> None:
        known = tagged_fields(self.struct, self.version)
        if not known:
            self.run.append((PAD, ""))
            return
        self._flush("out")
        conditions = [is_set_source(f, f"item.{f.name}") for f in known]
        self.lines.add(f"if not ({' or '.join(conditions)}):")
        self.lines.add("    out.append(0)")
        self.lines.add("else:")
        self.lines.depth += 1
        self.lines.add("tags: list[tuple[int, bytearray]] = []")
        for field, condition in zip(known, conditions, strict=True):
            self._write_tag(field, condition)
        self.lines.add(f"{self.functions.helper('write_tags')}(tags, out)")
        self.lines.depth -= 1

    def _write_tag(self, field: FieldSchema, condition: str) -> None:
        lines = self.lines
        lines.add(f"if {condition}:")
        lines.depth += 1
        lines.add("value = bytearray()")
        self._write_field(field, f"item.{field.name}", "value")
        self._flush("value")
        lines.add(f"tags.append(({field.tag}, value))")
        lines.depth -= 1
