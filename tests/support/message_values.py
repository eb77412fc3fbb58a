"""Values for any message in any version, made from the schemas alone.

A value is plain: a dict from our field names to ints, floats, strings, bytes (uuids, records),
lists, dicts and None, with exactly the fields of its version. So it can be turned into an object
of any codec: ours (`to_object`), or that of another project.

Promises  the same seed gives the same value; items of one array differ from each other in every
          field that has room for it, because some codecs keep arrays as maps.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib import import_module
from random import Random
from typing import Any

from hypothesis import strategies as st
from tools.messages.layout import is_absent_when_default
from tools.messages.schema import FieldSchema, MessageSchema, StructSchema, read_schemas

from ottla.protocol.message import Message

Plain = dict[str, Any]

INTEGERS = {
    "int8": (-(2**7), 2**7 - 1), "int16": (-(2**15), 2**15 - 1), "uint16": (0, 2**16 - 1),
    "int32": (-(2**31), 2**31 - 1), "uint32": (0, 2**32 - 1), "int64": (-(2**63), 2**63 - 1),
}  # fmt: skip
TEXTS = (
    "",
    "a",
    "topic-1",
    "žluťoučký kůň",
    "日本語",
    "🎉",
    "a\x00b",
    "\u202e\ufeff",
    "\U0010ffff",
)
# Texts with a special meaning, of the greatest length, or that users would not choose.
EXTREME_TEXTS = (
    *("a" * 32767, "\x00" * 32767, "é" * 16383, "日" * 10922, " " * 32767, "," * 32767),
    *("1" * 5000, "1e999", "-1", "0", "1", "9223372036854775808", "-2147483649", "NaN", "true"),
    *(".", "..", "/", "../../etc", "__consumer_offsets", "__transaction_state", "topic-1", "*"),
    *("a\nb\x1b[31m", "\u202e", "\x00", "\ufffd", "(" * 1000, "a{1000}{1000}", "(a)\\1", "\\"),
    *("retention.ms", "cleanup.policy", "compact,delete", "min.cleanable.dirty.ratio", "match"),
    *("client_id=(", "interval.ms", "metrics", "log.cleaner.threads", "max.connections", "root"),
    *("max.connections.per.ip.overrides", "localhost:" + "1" * 5000, "consumer.session.timeout.ms"),
    *("preallocate", "segment.bytes", "leader.replication.throttled.replicas", "ottla", "INFO"),
    *("user", "client-id", "ip", "producer_byte_rate", "consumer_byte_rate", "request_percentage"),
    *("consumer", "range", "uniform", "Empty", "Stable", "Ongoing", "metadata.version", "SCRAM"),
)
EXTREME_FLOATS = (float("nan"), 1.7976931348623157e308, -1.0, 0.5)
EXTREME_DISTANCES = (0, 1, 2, 1000)
# Lengths at which the varint of length + 1 gets longer, and their neighbours.
LENGTHS = (0, 1, 2, 126, 127, 128)
FLOATS = (0.0, -0.0, 1.5, -2.25, 1e308, 5e-324, float("inf"), float("-inf"))
DISTINCT_TRIES = 20


@dataclass(frozen=True, slots=True)
class Shape:
    """What the values of one draw are like."""

    null_share: float = 0.25  # of the fields that may be null
    default_share: float = 0.2
    item_counts: tuple[int, ...] = (0, 1, 1, 2, 3)
    inner_item_counts: tuple[int, ...] | None = None  # of arrays in arrays; else the same
    long_share: float = 0.03  # strings, bytes and arrays of numbers that are long
    extreme_share: float = 0  # numbers at the ends of their ranges, and texts that mean something
    likely: Mapping[str, tuple[Any, ...]] = field(default_factory=dict)  # values of fields, by name
    likely_share: float = 0.85  # of these fields


MIXED = Shape()
DEFAULTS = Shape(null_share=0, default_share=1, item_counts=(0,))
FULL = Shape(null_share=0, default_share=0, item_counts=(1, 2), long_share=0)
NULLS = Shape(null_share=1, default_share=0, item_counts=(1,), long_share=0)
LONG = Shape(null_share=0, default_share=0, item_counts=(1,), long_share=1)
WIDE = Shape(0, 0, item_counts=(130,), inner_item_counts=(0, 1), long_share=0)
EXTREME = Shape(default_share=0.1, item_counts=(0, 1, 1, 2), long_share=0, extreme_share=0.8)
EDGES = (DEFAULTS, FULL, NULLS, LONG)


@cache
def all_messages() -> tuple[MessageSchema, ...]:
    return tuple(message for schema in read_schemas() for message in schema.messages)


@cache
def message_named(name: str) -> MessageSchema:
    return next(message for message in all_messages() if message.name == name)


def all_cells() -> Iterator[tuple[MessageSchema, int]]:
    """Every message in every version."""
    return ((message, version) for message in all_messages() for version in message.versions)


def random_values(message: MessageSchema, version: int, seed: int, count: int) -> list[Plain]:
    """One value of every edge shape, then `count` mixed ones: the same for the same seed."""
    random = Random(f"{seed} {message.name} {version}")
    shapes = (*EDGES, WIDE, *[MIXED] * count)
    return [draw_value(message, version, random, shape) for shape in shapes]


def draw_value(message: MessageSchema, version: int, random: Random, shape: Shape = MIXED) -> Plain:
    return _Drawing(message, version, random, shape).draw_struct(message.root)


def draw_field(
    message: MessageSchema, field: FieldSchema, version: int, random: Random, shape: Shape = MIXED
) -> Any:
    return _Drawing(message, version, random, shape).draw_field(field)


def values(message: MessageSchema, version: int) -> st.SearchStrategy[Plain]:
    """As a strategy: hypothesis chooses every number that is drawn, and shrinks them."""
    return st.randoms(use_true_random=False).map(
        lambda random: draw_value(message, version, random)
    )


def cells_with_values() -> st.SearchStrategy[tuple[MessageSchema, int, Plain]]:
    """Any message in any version, with a value."""
    return st.sampled_from(tuple(all_cells())).flatmap(
        lambda cell: st.tuples(st.just(cell[0]), st.just(cell[1]), values(*cell))
    )


class _Drawing:
    def __init__(self, message: MessageSchema, version: int, random: Random, shape: Shape) -> None:
        self.message = message
        self.version = version
        self.random = random
        self.shape = shape
        self.depth = 0  # how many arrays we are in

    def draw_struct(self, struct: StructSchema, seen: dict[str, set[Any]] | None = None) -> Plain:
        """One struct; `seen` holds what its siblings in an array have in each field."""
        return {
            field.name: self._draw_distinct(field, seen)
            for field in struct.fields
            if self.version in field.versions
        }

    def _draw_distinct(self, field: FieldSchema, seen: dict[str, set[Any]] | None) -> Any:
        value = self.draw_field(field)
        if seen is None or field.is_array or field.is_struct:
            return value
        others = seen.setdefault(field.name, set())
        for _ in range(DISTINCT_TRIES):
            if value not in others:
                break
            value = self.draw_field(field)
        others.add(value)
        return value

    def draw_field(self, field: FieldSchema) -> Any:
        random, shape = self.random, self.shape
        is_known = field.name in shape.likely and not field.is_struct
        if is_known and random.random() < shape.likely_share:
            return self._draw_likely(field)
        if field.is_nullable(self.version) and random.random() < shape.null_share:
            return None
        if random.random() < shape.default_share:
            return default_value(self.message, field, self.version)
        if field.is_array:
            return self._draw_array(field)
        if field.is_struct:
            return self.draw_struct(self.message.structs[field.type])
        return self._draw_scalar(field.type)

    def _draw_likely(self, field: FieldSchema) -> Any:
        is_nullable = field.is_nullable(self.version)
        values = [each for each in self.shape.likely[field.name] if is_nullable or each is not None]
        if field.is_array:
            return [self.random.choice(values) for _ in range(self.random.choice((0, 1, 1, 2)))]
        return self.random.choice(values)

    def _draw_array(self, field: FieldSchema) -> list[Any]:
        counts = self.shape.item_counts
        if self.depth and self.shape.inner_item_counts is not None:
            counts = self.shape.inner_item_counts
        count = self.random.choice(counts)
        if field.is_struct:
            return self._draw_structs(self.message.structs[field.type], count)
        if self.random.random() < self.shape.long_share:
            count = self.random.choice((126, 127, 128, 300))
        return [self._draw_scalar(field.type) for _ in range(count)]

    def _draw_structs(self, struct: StructSchema, count: int) -> list[Plain]:
        seen: dict[str, set[Any]] = {}
        self.depth += 1
        items = [self.draw_struct(struct, seen) for _ in range(count)]
        self.depth -= 1
        return items

    def _draw_scalar(self, kind: str) -> Any:
        if self.random.random() < self.shape.extreme_share:
            return self._draw_extreme(kind)
        if kind in INTEGERS:
            return self._draw_integer(*INTEGERS[kind])
        match kind:
            case "bool":
                return self.random.random() < 0.5
            case "float64":
                return self.random.choice((*FLOATS, self.random.uniform(-1e9, 1e9)))
            case "uuid":
                return self.random.choice((bytes(16), bytes(15) + b"\x01", self._draw_bytes(16)))
            case "string":
                return self._draw_text()
        return self._draw_bytes(self._draw_length())

    def _draw_extreme(self, kind: str) -> Any:
        if kind in INTEGERS:
            lowest, highest = INTEGERS[kind]
            around = (lowest, highest, 0, 2**31, -(2**31), 2**62, 2**15)
            distance = self.random.choice(EXTREME_DISTANCES) * self.random.choice((-1, 1))
            return min(max(self.random.choice(around) + distance, lowest), highest)
        match kind:
            case "float64":
                return self.random.choice((*FLOATS, *EXTREME_FLOATS))
            case "string":
                return self.random.choice(EXTREME_TEXTS)
            case "uuid":
                return self.random.choice((bytes(16), b"\xff" * 16, bytes(15) + b"\x01"))
            case "bool":
                return self.random.random() < 0.5
        return self._draw_bytes(self.random.choice((0, 1, 4, 11, 61, 16383)))

    def _draw_integer(self, lowest: int, highest: int) -> int:
        if self.random.random() < 0.4:
            return self.random.choice((lowest, max(-1, lowest), 0, 1, 127, highest))
        # As many small numbers as large ones: a field is wrong in its high bytes or in its low.
        bits = self.random.randint(1, highest.bit_length())
        value = self.random.getrandbits(bits)
        return -value if lowest < 0 and self.random.random() < 0.5 else value

    def _draw_text(self) -> str:
        if self.random.random() < self.shape.long_share:
            return self.random.choice("aé日") * self.random.choice((200, 5000, 10922))
        if self.random.random() < 0.5:
            return self.random.choice(TEXTS)
        length = self.random.choice(LENGTHS if self.random.random() < 0.2 else range(9))
        return "".join(self.random.choices("abcxyz0-._é", k=length))

    def _draw_length(self) -> int:
        if self.random.random() < self.shape.long_share:
            return self.random.choice((200, 16382, 16383, 16384, 32767))
        return self.random.choice(LENGTHS if self.random.random() < 0.2 else range(9))

    def _draw_bytes(self, size: int) -> bytes:
        return self.random.getrandbits(8 * size).to_bytes(size, "big") if size else b""


def default_value(message: MessageSchema, field: FieldSchema, version: int) -> Any:
    """What a field has that was not set; where that cannot be in this version, what is nearest."""
    if field.default == "null" and field.is_nullable(version):
        return None
    if field.is_array:
        return []
    if field.is_struct:
        return struct_default(message, message.structs[field.type], version)
    if field.type in INTEGERS:
        return int(field.default or 0)
    match field.type:
        case "bool":
            return field.default == "true"
        case "float64":
            return float(field.default or 0)
        case "uuid":
            return bytes(16)
        case "string":
            return "" if field.default in (None, "null") else field.default
        case "records":
            return None if field.is_nullable(version) else b""
    return b""


def struct_default(message: MessageSchema, struct: StructSchema, version: int) -> Plain:
    return {
        field.name: default_value(message, field, version)
        for field in struct.fields
        if version in field.versions
    }


def message_class(message: MessageSchema) -> type[Message]:
    """Our generated class."""
    module = import_module(f"ottla.protocol.messages.{message.module}")
    found: type[Message] = getattr(module, message.name)
    return found


def to_object(message: MessageSchema, version: int, plain: Plain) -> Message:
    """Our object of a plain value; fields of other versions keep their defaults."""
    module = import_module(f"ottla.protocol.messages.{message.module}")

    def build(struct: StructSchema, value: Plain) -> Any:
        fields = {f.name: f for f in struct.fields}
        made = {name: convert(fields[name], item) for name, item in value.items()}
        return getattr(module, struct.name)(**made)

    def convert(field: FieldSchema, value: Any) -> Any:
        if value is None or not field.is_struct:
            return value
        struct = message.structs[field.type]
        if field.is_array:
            return [build(struct, item) for item in value]
        if is_absent_when_default(field) and value == struct_default(message, struct, version):
            return None
        return build(struct, value)

    built: Message = build(message.root, plain)
    return built
