"""Collects generated functions: versions with the same layout share one."""

from __future__ import annotations

from tools.messages.layout import code_name
from tools.messages.schema import MessageSchema, StructSchema, snake_case

INDENT = "    "


class Functions:
    """Named function bodies of one module, without duplicates."""

    def __init__(self, message: MessageSchema, prefix: str) -> None:
        self.message = message
        self.prefix = prefix
        self.sources: list[str] = []
        self.formats: set[str] = set()
        self.helpers: set[str] = set()
        self._names: dict[tuple[str, str], str] = {}

    def add(
        self, struct: StructSchema, plural: str, version: int, signature: str, body: str
    ) -> str:
        """The name of a function with this body; equal bodies are shared between versions."""
        key = (struct.name + plural, body)
        name = self._names.get(key)
        if name is None:
            name = f"_{self.prefix}_{snake_case(struct.name)}{plural}_v{version}"
            self._names[key] = name
            self.sources.append(f"def {name}{signature}:\n{body}")
        return name

    def format(self, codes: str, verb: str) -> str:
        """The name of a `struct` function for these fields."""
        self.formats.add(codes)
        return f"_{verb}_{code_name(codes)}"

    def helper(self, name: str) -> str:
        self.helpers.add(name)
        return name


class Lines:
    """Source lines with indentation."""

    def __init__(self, depth: int = 1) -> None:
        self.lines: list[str] = []
        self.depth = depth

    def add(self, line: str) -> None:
        self.lines.append(INDENT * self.depth + line)

    def text(self) -> str:
        return "\n".join(self.lines) + "\n"
