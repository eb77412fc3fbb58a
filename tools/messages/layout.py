"""The mapping of a schema to Python and to the wire: type names, defaults, widths."""

from __future__ import annotations

from tools.messages.schema import FIXED_BYTES, FieldSchema, MessageSchema, StructSchema

STRUCT_CODES = {
    "bool": "?", "int8": "b", "int16": "h", "uint16": "H", "int32": "i", "uint32": "I",
    "int64": "q", "float64": "d", "uuid": "16s",
}  # fmt: skip
PYTHON_TYPES = {
    "bool": "bool", "float64": "float", "uuid": "bytes", "string": "str", "bytes": "bytes",
    "records": "FrameSegment",
}  # fmt: skip


def code_name(codes: str) -> str:
    """A `struct` format as part of a Python name: `q16s?` is `qut`."""
    return codes.replace("16s", "u").replace("?", "t")


def regular_fields(struct: StructSchema, version: int) -> list[FieldSchema]:
    return [f for f in struct.fields if version in f.versions and f.tag is None]


def tagged_fields(struct: StructSchema, version: int) -> list[FieldSchema]:
    found = [f for f in struct.fields if version in f.versions and f.tag is not None]
    return sorted(found, key=lambda f: f.tag or 0)


def is_absent_when_default(field: FieldSchema) -> bool:
    """Tagged structs are None if they are not on the wire, which is cheaper than a default object.

    Not nullable ones: null is encoded, and differs from an absent field.
    """
    return field.tag is not None and _is_one_struct(field) and field.nullable is None


def _is_one_struct(field: FieldSchema) -> bool:
    return field.is_struct and not field.is_array


def item_type(field: FieldSchema) -> str:
    return PYTHON_TYPES.get(field.type, field.type if field.is_struct else "int")


def python_type(field: FieldSchema) -> str:
    name = item_type(field)
    if field.is_array:
        name = f"Sequence[{name}]"
    can_be_none = field.nullable is not None or is_absent_when_default(field)
    return f"{name} | None" if can_be_none else name


def default_source(field: FieldSchema) -> str:
    """The default as a Python expression; `None` for a struct that `__init__` fills in."""
    if field.default == "null" or _is_one_struct(field):
        return "None"
    if field.is_array:
        return "()"
    match field.type:
        case "string":
            return f'"{field.default or ""}"'
        case "bytes":
            return 'b""'
        case "records":
            return "None" if field.nullable else 'b""'
        case "uuid":
            return "ZERO_UUID"
        case "bool":
            return (field.default or "false").capitalize()
        case "float64":
            return field.default or "0.0"
    return field.default or "0"


def absent_source(field: FieldSchema) -> str:
    """The value of a tagged field that is not on the wire."""
    is_default_struct = _is_one_struct(field) and not is_absent_when_default(field)
    if is_default_struct and field.default != "null":
        return f"{field.type}()"
    return default_source(field)


def is_set_source(field: FieldSchema, value: str) -> str:
    """A condition: the value differs from the default, so it must be encoded or rejected."""
    default = default_source(field)
    if is_absent_when_default(field):
        return f"({value} is not None and {value} != {field.type}())"
    if _is_one_struct(field) and field.default != "null":
        return f"{value} != {field.type}()"
    if default == "None":
        return f"{value} is not None"
    if field.is_array:
        return f"({value} is None or {value})" if field.nullable else value
    match field.type, default:
        case "bool", "False":
            return value
        case "bool", "True":
            return f"not {value}"
    return f"{value} != {default}"


def smallest_bytes(message: MessageSchema, struct: StructSchema, version: int) -> int:
    """The minimum size of such a struct, to validate the count of an array."""
    flexible = message.is_flexible(version)
    total = sum(_smallest_field(message, f, version) for f in regular_fields(struct, version))
    return max(1, total + flexible)


def smallest_item(message: MessageSchema, field: FieldSchema, version: int) -> int:
    if field.type in FIXED_BYTES:
        return FIXED_BYTES[field.type]
    if field.is_struct:
        return smallest_bytes(message, message.structs[field.type], version)
    return _length_bytes(message, field, version)


def _length_bytes(message: MessageSchema, field: FieldSchema, version: int) -> int:
    if message.is_flexible(version) and not field.is_plain:
        return 1
    return 2 if field.type == "string" else 4


def _smallest_field(message: MessageSchema, field: FieldSchema, version: int) -> int:
    if field.is_array:
        return 1 if message.is_flexible(version) else 4
    if field.is_struct and field.is_nullable(version):
        return 1
    return smallest_item(message, field, version)


def has_records(message: MessageSchema, struct: StructSchema) -> bool:
    """Whether the struct contains records, so that encoding yields segments."""
    return any(
        f.type == "records" or (f.is_struct and has_records(message, message.structs[f.type]))
        for f in struct.fields
    )
