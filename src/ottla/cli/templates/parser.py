"""Templates such as `%t-%p at %o: %k{hex} %v\\n`, with which records are printed and read.

The syntax is rpk's. `%` and a letter is a field of a record, `{...}` after it is its encoding;
`\\t \\n \\r \\\\ \\xNN` are characters, `%% %{ %}` the characters themselves.

    %t topic    %k key    %v value    %h{...} each header    %p partition    %o offset
    %T %K %V    their lengths         %H number of headers   %d timestamp    %e leader epoch
    %i number of the printed record  %[ start, %] end of the partition

kcat's `%s`, `%S` (the value and its length) and `%R` (its length in four bytes) work too.

    text       {hex} {base64} {base64raw} {unpack[>iq]}
    numbers    {hex4} to {hex64}, {big8} to {big64}, {little8} to {little64}, {byte}, {bool}
    times      {strftime[%F %T]}, {rfc3339}; else milliseconds since 1970
    headers    a template in which %k and %v are the header's: %h{%k=%v, }
"""

from __future__ import annotations

from typing import NamedTuple

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
NOT_AVAILABLE = {  # in rpk's syntax, but not available from librdkafka
    "a": "the record's attributes",
    "x": "the producer id",
    "y": "the producer epoch",
    "|": "the last stable offset",
}
ESCAPES = {"t": "\t", "n": "\n", "r": "\r", "\\": "\\"}

TEXT_ENCODINGS = {"", "hex", "base64", "base64raw"}
NUMBER_ENCODINGS = {
    "", "ascii", "byte", "bool", "hex4",
    *(f"{kind}{bits}" for kind in ("hex", "big", "little") for bits in (8, 16, 32, 64)),
}  # fmt: skip
NUMBERS_TEXT = "{hex8} to {hex64}, {big8} to {big64}, {little8} to {little64}, {byte} or {bool}"
ENCODINGS_TEXT = {
    TEXT: "{hex}, {base64}, {base64raw} or {unpack[>iq]}",
    NUMBER: NUMBERS_TEXT,
    TIME: "{rfc3339}, {strftime[%F %T]}, " + NUMBERS_TEXT,
}


class BadTemplate(ValueError):
    """The template is invalid; the message says where and why."""


class Literal(NamedTuple):
    content: bytes


class Field(NamedTuple):
    letter: str
    encoding: str = ""  # the text in braces
    inner: tuple[Literal | Field, ...] = ()  # of headers

    @property
    def kind(self) -> str:
        return KINDS[self.letter]


Piece = Literal | Field


def parse_template(text: str) -> tuple[Piece, ...]:
    """BadTemplate says what is wrong."""
    return _TemplateParser(text).parse(KINDS)


def parse_literal(text: str) -> bytes:
    """Text with the escapes of templates, and without fields."""
    return b"".join(
        piece.content
        for piece in parse_template(text.replace("%", "%%"))
        if isinstance(piece, Literal)
    )


class _TemplateParser:
    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0

    def parse(self, kinds: dict[str, str]) -> tuple[Piece, ...]:
        pieces: list[Piece] = []
        literal = ""
        while self._at < len(self._text):
            char = self._next()
            if char == "\\":
                literal += self._escape()
            elif char == "%" and self._peek() in ("%", "{", "}"):
                literal += self._next()
            elif char == "%":
                if literal:
                    pieces.append(Literal(_as_bytes(literal)))
                    literal = ""
                pieces.append(self._field(kinds))
            else:
                literal += char
        return (*pieces, Literal(_as_bytes(literal))) if literal else tuple(pieces)

    def _field(self, kinds: dict[str, str]) -> Field:
        if self._at == len(self._text):
            raise BadTemplate("the template ends with %; write a percent sign as %%")
        letter = self._next()
        if letter in NOT_AVAILABLE:
            raise BadTemplate(
                f"%{letter}: {NOT_AVAILABLE[letter]} is not available from librdkafka"
            )
        letter, encoding = KCAT.get(letter, (letter, ""))
        if letter not in kinds:
            raise BadTemplate(f"%{letter} is not a field; the fields are %{' %'.join(kinds)}")
        encoding = self._braces() if self._peek() == "{" else encoding
        if kinds[letter] == HEADERS:
            return Field(letter, "", _TemplateParser(encoding or "%k=%v,").parse(IN_HEADERS))
        _check_encoding(letter, kinds[letter], encoding)
        return Field(letter, encoding)

    def _braces(self) -> str:
        """The text between a brace and the one that closes it; `%{` and `%}` do not count."""
        self._next()
        begun, depth = self._at, 1
        while self._at < len(self._text):
            char = self._next()
            if char in "%\\":
                self._at += self._peek() in ("%", "{", "}", "\\")
            depth += (char == "{") - (char == "}")
            if depth == 0:
                return self._text[begun : self._at - 1]
        raise BadTemplate(f"the brace before {self._text[begun:][:20]!r} is not closed")

    def _escape(self) -> str:
        char = self._next() if self._at < len(self._text) else ""
        if char in ESCAPES:
            return ESCAPES[char]
        digits = self._text[self._at : self._at + 2]
        if (
            char != "x"
            or len(digits) != 2
            or any(d not in "0123456789abcdefABCDEF" for d in digits)
        ):
            raise BadTemplate(f"\\{char} is not an escape; the escapes are \\t \\n \\r \\\\ \\xNN")
        self._at += 2
        # A lone surrogate, which `_as_bytes` converts to exactly this byte.
        return bytes.fromhex(digits).decode("utf-8", "surrogateescape")

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _next(self) -> str:
        self._at += 1
        return self._text[self._at - 1]


def _check_encoding(letter: str, kind: str, encoding: str) -> None:
    bracketed = encoding.partition("[")[0] if encoding.endswith("]") else ""
    if kind == TEXT and (encoding in TEXT_ENCODINGS or bracketed == "unpack"):
        return
    if kind in (NUMBER, TIME) and encoding in NUMBER_ENCODINGS:
        return
    if kind == TIME and (encoding == "rfc3339" or bracketed == "strftime"):
        return
    raise BadTemplate(
        f"%{letter}{{{encoding}}}: unknown encoding; a {kind} can have {ENCODINGS_TEXT[kind]}"
    )


def _as_bytes(text: str) -> bytes:
    return text.encode("utf-8", "surrogateescape")
