"""Spark's DDL for schemas, such as `id bigint, tags array<string>`, read into Spark types.

Promises  InvalidOption names the position in the user's own text, and the nearest type for a
          misspelt one. Spark itself would report a position in the text of the whole schema, which
          no user wrote, and only the JVM can call its parser: a data source runs without one.
Leaves    whether values can be decoded into a type to `value_types.py`.
"""

from __future__ import annotations

import difflib
import re
from typing import NamedTuple, NoReturn

from pyspark.sql.types import (
    ArrayType,
    BinaryType,
    BooleanType,
    ByteType,
    DataType,
    DateType,
    DecimalType,
    DoubleType,
    FloatType,
    IntegerType,
    LongType,
    MapType,
    ShortType,
    StringType,
    StructField,
    StructType,
    TimestampNTZType,
    TimestampType,
)

from ottla.config.options import InvalidOption

SIMPLE: dict[str, DataType] = {
    "boolean": BooleanType(),
    "tinyint": ByteType(), "byte": ByteType(),
    "smallint": ShortType(), "short": ShortType(),
    "int": IntegerType(), "integer": IntegerType(),
    "bigint": LongType(), "long": LongType(),
    "float": FloatType(), "real": FloatType(),
    "double": DoubleType(),
    "string": StringType(),
    "binary": BinaryType(),
    "date": DateType(),
    "timestamp": TimestampType(), "timestamp_ltz": TimestampType(),
    "timestamp_ntz": TimestampNTZType(),
}  # fmt: skip
DECIMALS = ("decimal", "dec", "numeric")
TYPES = (*SIMPLE, *DECIMALS, "array", "map", "struct")
PRECISION_DEFAULT, PRECISION_MAX = 10, 38
SHOWN_CHARACTERS = 30

_TOKEN = re.compile(
    r"""\s*(?:
        (?P<quoted>`(?:[^`]|``)*`)
      | (?P<text>'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")
      | (?P<word>\w+)
      | (?P<sign>[<>(),:])
      | (?P<end>$)
      | (?P<other>.)
    )""",
    re.VERBOSE | re.DOTALL,
)


_STRUCT = re.compile(r"\s*struct\s*<", re.IGNORECASE)


class Token(NamedTuple):
    kind: str
    text: str
    position: int


def parse_ddl(text: str) -> StructType:
    """The columns of `text`, which may also be `struct<...>`; InvalidOption says what is wrong, and
    where."""
    if text.lstrip().startswith("StructType("):
        raise InvalidOption(
            "Option valueSchema is a Python object: give its text, schema.simpleString()."
        )
    parser = _SchemaParser(text)
    return parser.whole_struct() if _STRUCT.match(text) else StructType(parser.fields(until=""))


class _SchemaParser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._tokens = _tokens(text)
        self._at = 0

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._next
        self._at += token.kind != "end"
        return token

    def whole_struct(self) -> StructType:
        self._take()
        self._demand("<")
        found = StructType(self.fields(until=">"))
        if self._next.kind != "end":
            self._fail(self._next, "expected the end")
        return found

    def fields(self, until: str) -> list[StructField]:
        """Separated by commas, up to the sign `until`, which is taken as well; "" is the end."""
        fields: list[StructField] = []
        if until and self._next.text == until:
            self._take()
            return fields
        while True:
            fields.append(self._field())
            if self._is_sign(","):
                continue
            if self._next.text == until:
                self._take()
                return fields
            expected = f"a comma or {until}" if until else "a comma or the end"
            self._fail(self._next, f"expected {expected}")

    def _field(self) -> StructField:
        name = self._take()
        if name.kind not in ("word", "quoted"):
            self._fail(name, "expected the name of a column")
        self._is_sign(":")
        if self._next.kind != "word":
            self._fail(self._next, f"expected the type of {name.text}")
        kind = self._type()
        nullable = not self._are_words("not", "null")
        if self._are_words("comment") and self._take().kind != "text":
            self._fail(self._tokens[self._at - 1], "expected the text of the comment, in quotes")
        plain = name.text[1:-1].replace("``", "`") if name.kind == "quoted" else name.text
        return StructField(plain, kind, nullable)

    def _type(self) -> DataType:
        token = self._take()
        name = token.text.lower()
        if token.kind != "word":
            self._fail(token, "expected a type")
        if name in SIMPLE:
            return SIMPLE[name]
        if name in DECIMALS:
            return self._decimal(token)
        match name:
            case "array":
                self._demand("<")
                item = self._type()
                self._demand(">")
                return ArrayType(item)
            case "map":
                self._demand("<")
                key = self._type()
                self._demand(",")
                value = self._type()
                self._demand(">")
                return MapType(key, value)
            case "struct":
                self._demand("<")
                return StructType(self.fields(until=">"))
        near = difflib.get_close_matches(name, TYPES, n=1)
        advice = f"perhaps {near[0]} is meant" if near else f"known are {', '.join(TYPES)}"
        self._fail(token, f"values cannot be decoded into this type; {advice}")

    def _decimal(self, token: Token) -> DataType:
        precision, scale = PRECISION_DEFAULT, 0
        if self._is_sign("("):
            precision = self._number()
            if self._is_sign(","):
                scale = self._number()
            self._demand(")")
        if not (0 < precision <= PRECISION_MAX and scale <= precision):
            self._fail(token, f"a decimal has at most {PRECISION_MAX} digits, and no larger scale")
        return DecimalType(precision, scale)

    def _number(self) -> int:
        token = self._take()
        if not (token.kind == "word" and token.text.isascii() and token.text.isdigit()):
            self._fail(token, "expected a number")
        return int(token.text)

    def _is_sign(self, sign: str) -> bool:
        if self._next.kind == "sign" and self._next.text == sign:
            self._take()
            return True
        return False

    def _are_words(self, *words: str) -> bool:
        found = self._tokens[self._at : self._at + len(words)]
        if [each.text.lower() for each in found] == list(words):
            self._at += len(words)
            return True
        return False

    def _demand(self, sign: str) -> None:
        if not self._is_sign(sign):
            self._fail(self._next, f"expected {sign}")

    def _fail(self, token: Token, why: str) -> NoReturn:
        if token.kind == "end":
            raise InvalidOption(f"Option valueSchema: at the end of {self._text!r}: {why}.")
        rest = self._text[token.position : token.position + SHOWN_CHARACTERS]
        raise InvalidOption(
            f"Option valueSchema: at character {token.position + 1}, {rest!r}: {why}."
        )


def _tokens(text: str) -> list[Token]:
    found, position = [], 0
    while True:
        match = _TOKEN.match(text, position)
        assert match is not None, "the last alternative matches whatever there is"
        kind = match.lastgroup or ""
        found.append(Token(kind, match[kind], match.start(kind)))
        position = match.end()
        if kind == "end":
            return found
