"""The message schemas: one readable file per API, one line per field.

    # Read batches.                     a comment
    api 1 Fetch                         key and name (or `data Name` for other messages)
    on broker controller                listeners that serve it
    request 4-18 flexible 12+           versions; since 12 lengths are varints and tags exist
      cluster_id: string?  12+  tag 0   `?` nullable (`?7+`: since 7); exists since 12
      topics:     []FetchTopic          an array; the fields of its struct are indented below
        topic:    string -12 ignorable  up to 12; ignored in versions without it
        limit:    int32  = -1           default; otherwise 0, false, "", empty
    struct Shared                       a struct that several fields of the message use

Further words: `plain` (never compact), `kept` (items may cache their encoding), `type 3` (the
record type of a coordinator's key or value), `unstable 6` (a version that is not announced).
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

SCHEMAS = Path(__file__).parents[2] / "src" / "ottla" / "protocol" / "schemas"

FIXED_BYTES = {
    "bool": 1, "int8": 1, "int16": 2, "uint16": 2, "int32": 4, "uint32": 4,
    "int64": 8, "float64": 8, "uuid": 16,
}  # fmt: skip
LENGTH_TYPES = ("string", "bytes", "records")


@dataclass(frozen=True, slots=True)
class Versions:
    first: int
    last: int

    def __contains__(self, version: int) -> bool:
        return self.first <= version <= self.last

    def __iter__(self) -> Iterator[int]:
        return iter(range(self.first, self.last + 1))

    def __str__(self) -> str:
        return str(self.first) if self.first == self.last else f"{self.first}-{self.last}"


@dataclass(slots=True)
class FieldSchema:
    name: str
    type: str  # of one item, for an array
    is_array: bool
    versions: Versions
    nullable: Versions | None = None
    tag: int | None = None
    default: str | None = None
    is_ignorable: bool = False
    is_plain: bool = False
    is_kept: bool = False

    @property
    def is_struct(self) -> bool:
        return self.type[0].isupper()

    def is_nullable(self, version: int) -> bool:
        return self.nullable is not None and version in self.nullable


@dataclass(slots=True)
class StructSchema:
    name: str
    fields: list[FieldSchema] = field(default_factory=list)


@dataclass(slots=True)
class MessageSchema:
    """One request, response or data record, with all its structs."""

    name: str
    versions: Versions
    flexible_from: int | None
    root: StructSchema
    structs: dict[str, StructSchema]  # all except the root, by name, inner ones first

    def is_flexible(self, version: int) -> bool:
        return self.flexible_from is not None and version >= self.flexible_from

    @property
    def module(self) -> str:
        return snake_case(self.name)

    def all_structs(self) -> list[StructSchema]:
        return [*self.structs.values(), self.root]


@dataclass(slots=True)
class Schema:
    """One schema file."""

    path: Path
    name: str
    remark: str
    api_key: int | None = None
    listeners: tuple[str, ...] = ()
    unstable: int | None = None
    record_type: int | None = None
    messages: list[MessageSchema] = field(default_factory=list)

    @property
    def request(self) -> MessageSchema:
        return self.messages[0]

    @property
    def response(self) -> MessageSchema:
        return self.messages[1]


def snake_case(name: str) -> str:
    spaced = re.sub(r"(.)([A-Z][a-z]+)", r"\1_\2", name)
    return re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", spaced).lower()


def read_schemas(folder: Path = SCHEMAS) -> list[Schema]:
    """All schemas: the APIs by key, then the data records by name."""
    schemas = [read_schema(path) for path in sorted(folder.rglob("*.schema"))]
    return sorted(schemas, key=lambda s: (s.api_key is None, s.api_key or 0, s.name))


def read_schema(path: Path) -> Schema:
    try:
        return _Parser(path).parse()
    except (ValueError, IndexError, KeyError) as error:
        raise SystemExit(f"{path}: {error}") from error


class _Parser:
    def __init__(self, path: Path) -> None:
        self.path = path
        lines = path.read_text().splitlines()
        remarks = [line[1:].strip() for line in lines if line.startswith("#")]
        self.schema = Schema(path, "", " ".join(remarks))
        self.lines = [line for line in lines if line.strip() and not line.startswith("#")]
        self.at = 0

    def parse(self) -> Schema:
        while self.at < len(self.lines):
            self._read_head(self.lines[self.at].split())
        return self.schema

    def _read_head(self, words: list[str]) -> None:
        schema = self.schema
        self.at += 1
        match words:
            case ["api", key, name]:
                schema.api_key, schema.name = int(key), name
            case ["data", name]:
                schema.name = name
            case ["on", *listeners]:
                schema.listeners = tuple(listeners)
            case ["unstable", version]:
                schema.unstable = int(version)
            case ["type", record_type]:
                schema.record_type = int(record_type)
            case ["request" | "response" | "versions" as what, *rest]:
                suffix = "" if what == "versions" else what.capitalize()
                schema.messages.append(self._read_message(schema.name + suffix, rest))
            case _:
                raise ValueError(f"line not understood: {' '.join(words)}")

    def _read_message(self, name: str, words: list[str]) -> MessageSchema:
        versions = parse_versions(words[0], None)
        flexible_from = int(words[2].rstrip("+")) if words[1:2] == ["flexible"] else None
        message = MessageSchema(name, versions, flexible_from, StructSchema(name), {})
        self._read_fields(message, message.root, 1, versions)
        while self.at < len(self.lines) and self.lines[self.at].startswith("  struct "):
            shared = StructSchema(self.lines[self.at].split()[1])
            self.at += 1
            self._read_fields(message, shared, 2, versions)
            self._add_struct(message, shared)
        self._check_references(message)
        return message

    def _read_fields(
        self, message: MessageSchema, into: StructSchema, depth: int, outer: Versions
    ) -> None:
        indent = "  " * depth
        while self.at < len(self.lines):
            line = self.lines[self.at]
            if not re.match(indent + r"\w+:", line):
                break
            self.at += 1
            item = parse_field(line, outer)
            into.fields.append(item)
            if self.at < len(self.lines) and re.match(indent + r"  \w+:", self.lines[self.at]):
                inner = StructSchema(item.type)
                self._read_fields(message, inner, depth + 1, item.versions)
                self._add_struct(message, inner)

    @staticmethod
    def _add_struct(message: MessageSchema, struct: StructSchema) -> None:
        if struct.name in message.structs or struct.name == message.name:
            raise ValueError(f"struct {struct.name} defined twice")
        message.structs[struct.name] = struct

    @staticmethod
    def _check_references(message: MessageSchema) -> None:
        for struct in message.all_structs():
            for item in struct.fields:
                known = item.type in FIXED_BYTES or item.type in LENGTH_TYPES
                if not known and item.type not in message.structs:
                    raise ValueError(f"{struct.name}.{item.name}: unknown type {item.type}")


def parse_versions(text: str, outer: Versions | None) -> Versions:
    """`3-5`, `4`; inside an outer range also `3+` and `-5`."""
    if outer is not None and text.endswith("+"):
        return Versions(int(text[:-1]), outer.last)
    if outer is not None and text.startswith("-"):
        return Versions(outer.first, int(text[1:]))
    first, _, last = text.partition("-")
    return Versions(int(first), int(last or first))


FIELD = re.compile(
    r"\s*(?P<name>\w+):\s+(?P<array>\[\])?(?P<type>\w+)(?P<null>\?(?P<nullable>[-+\d]*))?"
    r"(?:\s+(?P<versions>-?\d[-+\d]*))?(?:\s+tag (?P<tag>\d+))?(?:\s+= (?P<default>\S+))?"
    r"(?P<flags>(?:\s+(?:ignorable|plain|kept))*)\s*$"
)


def parse_field(line: str, outer: Versions) -> FieldSchema:
    found = FIELD.match(line)
    if found is None:
        raise ValueError(f"field not understood: {line.strip()}")
    versions = parse_versions(found["versions"], outer) if found["versions"] else outer
    nullable = None
    if found["null"]:
        nullable = parse_versions(found["nullable"], versions) if found["nullable"] else versions
    flags = found["flags"].split()
    return FieldSchema(
        name=found["name"],
        type=found["type"],
        is_array=bool(found["array"]),
        versions=versions,
        nullable=nullable,
        tag=int(found["tag"]) if found["tag"] else None,
        default=found["default"],
        is_ignorable="ignorable" in flags,
        is_plain="plain" in flags,
        is_kept="kept" in flags,
    )
