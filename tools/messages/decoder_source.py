"""Generates the decoding functions of a message: one per struct and layout."""

from __future__ import annotations

from tools.messages.functions import Functions, Lines
from tools.messages.layout import (
    STRUCT_CODES,
    absent_source,
    default_source,
    is_absent_when_default,
    item_type,
    regular_fields,
    smallest_item,
    tagged_fields,
)
from tools.messages.schema import FIXED_BYTES, FieldSchema, MessageSchema, StructSchema

RESERVED = {"data", "at", "items", "count", "tag", "end", "more", "present"}


def local(field: FieldSchema) -> str:
    """The local variable for a field while its struct is decoded."""
    return field.name + "_" if field.name in RESERVED else field.name


class DecoderSource:
    def __init__(self, message: MessageSchema) -> None:
        self.message = message
        self.functions = Functions(message, "read")

    def root(self, version: int) -> str:
        return self._one(self.message.root, version)

    def _one(self, struct: StructSchema, version: int) -> str:
        """A function that decodes one struct and returns it with the position after it."""
        lines = Lines()
        body = _Body(self, struct, version, lines)
        body.write_fields()
        lines.add(f"return {body.construction()}, at")
        signature = f"(data: memoryview, at: int) -> tuple[{struct.name}, int]"
        return self.functions.add(struct, "", version, signature, lines.text())

    def many(self, struct: StructSchema, version: int) -> str:
        """A function that decodes `count` structs: one call for a whole array."""
        lines = Lines()
        lines.add(f"items: list[{struct.name}] = []")
        lines.add("for _ in range(count):")
        lines.depth += 1
        body = _Body(self, struct, version, lines)
        body.write_fields()
        lines.add(f"items.append({body.construction()})")
        lines.depth -= 1
        lines.add("return items, at")
        signature = f"(data: memoryview, at: int, count: int) -> tuple[list[{struct.name}], int]"
        return self.functions.add(struct, "s", version, signature, lines.text())

    def single(self, struct: StructSchema, version: int) -> str:
        return self._one(struct, version)


class _Body:
    """The statements that decode the fields of one struct in one version."""

    def __init__(
        self, source: DecoderSource, struct: StructSchema, version: int, lines: Lines
    ) -> None:
        self.source = source
        self.message = source.message
        self.functions = source.functions
        self.struct = struct
        self.version = version
        self.lines = lines
        self.run: list[tuple[str, str]] = []  # neighbouring fixed-width fields: (code, variable)

    def construction(self) -> str:
        values = [
            local(f) if self.version in f.versions else default_source(f)
            for f in self.struct.fields
        ]
        return f"{self.struct.name}({', '.join(values)})"

    def write_fields(self) -> None:
        for field in regular_fields(self.struct, self.version):
            if field.type in FIXED_BYTES and not field.is_array:
                self.run.append((STRUCT_CODES[field.type], local(field)))
            else:
                self._flush()
                self._write_read(field)
        if self.message.is_flexible(self.version):
            self._write_tag_section()
        self._flush()

    def _flush(self) -> None:
        """One `unpack_from` for all collected fixed-width fields."""
        if not self.run:
            return
        codes = "".join(code for code, _ in self.run)
        names = ", ".join(name for _, name in self.run)
        size = sum(FIXED_BYTES[t] for c, _ in self.run for t in _types_of(c))
        unpack = self.functions.format(codes, "unpack")
        target = f"({names},)" if len(self.run) == 1 else names
        self.lines.add(f"{target} = {unpack}(data, at)")
        self.lines.add(f"at += {size}")
        self.run = []

    def _write_tag_section(self) -> None:
        known = tagged_fields(self.struct, self.version)
        if not known:
            self._write_skipped_tags()
            return
        self._flush()
        for field in known:
            self.lines.add(f"{local(field)}: {_decoded_type(field)} = {absent_source(field)}")
        self.lines.add("if not data[at]:")
        self.lines.add("    at += 1")
        self.lines.add("else:")
        self.lines.depth += 1
        self._write_tag_loop(known)
        self.lines.depth -= 1

    def _write_skipped_tags(self) -> None:
        """No tag is known here: nearly always one zero byte, decoded with the fields before it."""
        skip = self.functions.helper("skip_tags")
        if not self.run:
            self.lines.add(f"at = {skip}(data, at) if data[at] else at + 1")
            return
        self.run.append(("B", "more"))
        self._flush()
        self.lines.add("if more:")
        self.lines.add(f"    at = {skip}(data, at - 1)")

    def _write_tag_loop(self, known: list[FieldSchema]) -> None:
        lines, helper = self.lines, self.functions.helper
        lines.add(f"more, at = {helper('read_tag_count')}(data, at)")
        lines.add("while more:")
        lines.depth += 1
        lines.add("more -= 1")
        lines.add(f"tag, end, at = {helper('read_tag')}(data, at)")
        for position, field in enumerate(known):
            lines.add(f"{'elif' if position else 'if'} tag == {field.tag}:")
            lines.depth += 1
            if field.type in FIXED_BYTES and not field.is_array:
                self.run.append((STRUCT_CODES[field.type], local(field)))
                self._flush()
            else:
                self._write_read(field, is_declared=True)
            lines.depth -= 1
        lines.add("else:")
        lines.add("    at = end")
        lines.add(f"{helper('check_tag_end')}(tag, at, end)")
        lines.depth -= 1

    def _write_read(self, field: FieldSchema, *, is_declared: bool = False) -> None:
        if field.is_array:
            self._write_array(field, is_declared)
        elif field.is_struct:
            self._write_struct(field, is_declared)
        elif field.type == "string" and field.is_nullable(self.version) and self._is_compact(field):
            self._write_nullable_string(field, is_declared)
        else:
            reader = self.functions.helper(self._reader_name(field))
            self.lines.add(f"{local(field)}, at = {reader}(data, at)")
            if field.type == "records" and not field.is_nullable(self.version):
                refuse = self.functions.helper("refuse_null")
                self.lines.add(f"if {local(field)} is None:")
                self.lines.add(f'    {refuse}("records", at)')

    def _write_nullable_string(self, field: FieldSchema, is_declared: bool) -> None:
        """Nearly always null, which needs no call."""
        declaration = "" if is_declared else ": str | None"
        self.lines.add(f"{local(field)}{declaration} = None")
        self.lines.add("if data[at]:")
        reader = self.functions.helper("read_compact_string")
        self.lines.add(f"    {local(field)}, at = {reader}(data, at)")
        self.lines.add("else:")
        self.lines.add("    at += 1")

    def _reader_name(self, field: FieldSchema) -> str:
        compact = "compact_" if self._is_compact(field) else ""
        if field.type == "records":
            return f"read_{compact}view"
        nullable = "nullable_" if field.is_nullable(self.version) else ""
        return f"read_{compact}{nullable}{field.type}"

    def _is_compact(self, field: FieldSchema) -> bool:
        return self.message.is_flexible(self.version) and not field.is_plain

    def _write_array(self, field: FieldSchema, is_declared: bool) -> None:
        compact = "compact_" if self._is_compact(field) else ""
        nullable = field.is_nullable(self.version)
        read = self.functions.helper(f"read_{compact}{'nullable_' if nullable else ''}count")
        smallest = smallest_item(self.message, field, self.version)
        self.lines.add(f"count, at = {read}(data, at, {smallest})")
        items = self._items_call(field, compact)
        if not nullable:
            self.lines.add(f"{local(field)}, at = {items} if count else ([], at)")
            return
        declaration = "" if is_declared else f": list[{item_type(field)}] | None"
        self.lines.add(f"{local(field)}{declaration} = None")
        self.lines.add("if count >= 0:")
        self.lines.add(f"    {local(field)}, at = {items}")

    def _items_call(self, field: FieldSchema, compact: str) -> str:
        if field.is_struct:
            reader = self.source.many(self.message.structs[field.type], self.version)
            return f"{reader}(data, at, count)"
        if field.type in ("string", "uuid"):
            kind = compact if field.type == "string" else ""
            return f"{self.functions.helper(f'read_{kind}{field.type}s')}(data, at, count)"
        code = STRUCT_CODES[field.type]
        return f'{self.functions.helper("read_numbers")}(data, at, count, "{code}")'

    def _write_struct(self, field: FieldSchema, is_declared: bool) -> None:
        reader = self.source.single(self.message.structs[field.type], self.version)
        if not field.is_nullable(self.version):
            self.lines.add(f"{local(field)}, at = {reader}(data, at)")
            return
        declaration = "" if is_declared else f": {field.type} | None"
        self.lines.add(f"{local(field)}{declaration} = None")
        if field.tag is None:
            self.lines.add("present = data[at] < 128")
            self.lines.add("at += 1")
        else:  # a tagged struct is preceded by a varint, 0 for null
            self.lines.add(f"present, at = {self.functions.helper('read_uvarint')}(data, at)")
        self.lines.add("if present:")
        self.lines.add(f"    {local(field)}, at = {reader}(data, at)")


def _types_of(code: str) -> list[str]:
    return [name for name, known in STRUCT_CODES.items() if known == code] or ["int8"]


def _decoded_type(field: FieldSchema) -> str:
    name = item_type(field)
    if field.is_array:
        name = f"Sequence[{name}]"
    nullable = field.nullable is not None or is_absent_when_default(field)
    return f"{name} | None" if nullable else name
