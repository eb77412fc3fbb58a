"""Templates such as `%t-%p at %o: %k{hex} %v\\n`, with which records are printed and read.

The language is rpk's. `%` and a letter stand for a part of a record, `{...}` behind it says how it
is written; `\\t \\n \\r \\\\ \\xNN` are characters, `%% %{ %}` the signs themselves.

    %t topic    %k key    %v value    %h{...} each header    %p partition    %o offset
    %T %K %V    their lengths         %H number of headers   %d timestamp    %e leader epoch
    %i which record of this run it is %[ start, %] end of the partition

kcat's `%s`, `%S` (the value and its length) and `%R` (its length in four bytes) work too.

    text       {hex} {base64} {base64raw} {unpack[>iq]}
    numbers    {hex4} to {hex64}, {big8} to {big64}, {little8} to {little64}, {byte}, {bool}
    times      {strftime[%F %T]}, {rfc3339}; else milliseconds since 1970
    headers    a template in which %k and %v are the header's: %h{%k=%v, }
"""

from __future__ import annotations

from dataclasses import dataclass

TEXT = "text"
NUMBER = "number"
TIME = "time"
HEADERS = "headers"

KINDS = {
    "t": TEXT, "k": TEXT, "v": TEXT,
    "T": NUMBER, "K": NUMBER, "V": NUMBER, "H": NUMBER, "p": NUMBER, "o": NUMBER, "e": NUMBER,
    "i": NUMBER, "[": NUMBER, "]": NUMBER,
    "d": TIME, "h": HEADERS,
}  # fmt: skip
IN_HEADERS = {letter: KINDS[letter] for letter in "kvKV"}
KCAT = {"s": ("v", ""), "S": ("V", ""), "R": ("V", "big32")}
NOT_TOLD = {  # in rpk's language, but the client library keeps it to itself
    "a": "the record's attributes",
    "x": "the producer id",
    "y": "the producer epoch",
    "|": "the last stable offset",
}
ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}

TEXT_WAYS = {"", "hex", "base64", "base64raw"}
NUMBER_WAYS = {
    "", "ascii", "byte", "bool", "hex4",
    *(f"{kind}{bits}" for kind in ("hex", "big", "little") for bits in (8, 16, 32, 64)),
}  # fmt: skip


class BadTemplate(ValueError):
    """The template cannot be used; says where and why."""


@dataclass(frozen=True, slots=True)
class Literal:
    content: bytes


@dataclass(frozen=True, slots=True)
class Field:
    letter: str
    way: str = ""  # how it is written: what stood in braces
    inner: tuple[Literal | Field, ...] = ()  # of headers

    @property
    def kind(self) -> str:
        return KINDS[self.letter]


Piece = Literal | Field


def parse_template(text: str) -> tuple[Piece, ...]:
    """BadTemplate names the place."""
    return _Parser(text).parse(KINDS)


class _Parser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def parse(self, kinds: dict[str, str]) -> tuple[Piece, ...]:
        pieces: list[Piece] = []
        literal = ""
        while self._at < len(self._text):
            sign = self._next()
            if sign == "\\":
                literal += self._escape()
            elif sign == "%" and self._peek() in ("%", "{", "}"):
                literal += self._next()
            elif sign == "%":
                if literal:
                    pieces.append(Literal(_as_bytes(literal)))
                    literal = ""
                pieces.append(self._field(kinds))
            else:
                literal += sign
        return (*pieces, Literal(_as_bytes(literal))) if literal else tuple(pieces)

    def _field(self, kinds: dict[str, str]) -> Field:
        if self._at == len(self._text):
            raise BadTemplate("the template ends with %; a percent sign is %%")
        letter = self._next()
        if letter in NOT_TOLD:
            raise BadTemplate(f"%{letter}: {NOT_TOLD[letter]} cannot be had through librdkafka")
        letter, way = KCAT.get(letter, (letter, ""))
        if letter not in kinds:
            raise BadTemplate(f"%{letter} stands for nothing; it can be %{' %'.join(kinds)}")
        way = self._braces() if self._peek() == "{" else way
        if kinds[letter] == HEADERS:
            return Field(letter, "", _Parser(way or "%k=%v,").parse(IN_HEADERS))
        _check_way(letter, kinds[letter], way)
        return Field(letter, way)

    def _braces(self) -> str:
        """What stands between a brace and the one that closes it; `%{` and `%}` do not count."""
        self._next()
        begun, depth = self._at, 1
        while self._at < len(self._text):
            sign = self._next()
            if sign in "%\\":
                self._at += self._peek() in ("%", "{", "}", "\\")
            depth += (sign == "{") - (sign == "}")
            if depth == 0:
                return self._text[begun : self._at - 1]
        raise BadTemplate(f"the brace before {self._text[begun:][:20]!r} is not closed")

    def _escape(self) -> str:
        sign = self._next() if self._at < len(self._text) else ""
        if sign in ESCAPES:
            return ESCAPES[sign]
        digits = self._text[self._at : self._at + 2]
        if (
            sign != "x"
            or len(digits) != 2
            or any(d not in "0123456789abcdefABCDEF" for d in digits)
        ):
            raise BadTemplate(f"\\{sign} stands for nothing; it can be \\t \\n \\r \\\\ \\xNN")
        self._at += 2
        # Kept as a lone surrogate, which `_as_bytes` turns into exactly this byte.
        return bytes.fromhex(digits).decode("utf-8", "surrogateescape")

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next(self) -> str:
        self._at += 1
        return self._text[self._at - 1]


def _check_way(letter: str, kind: str, way: str) -> None:
    bracketed = way.partition("[")[0] if way.endswith("]") else ""
    if kind == TEXT and (way in TEXT_WAYS or bracketed == "unpack"):
        return
    if kind in (NUMBER, TIME) and way in NUMBER_WAYS:
        return
    if kind == TIME and (way == "rfc3339" or bracketed == "strftime"):
        return
    raise BadTemplate(f"%{letter}{{{way}}}: {kind} is not written like that")


def _as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
