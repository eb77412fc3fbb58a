"""All files generated from the message schemas."""

from __future__ import annotations

from pathlib import Path

from tools.messages.api_table import api_table_source, loader_source
from tools.messages.module_source import module_source
from tools.messages.schema import Schema, read_schemas

SCHEMAS = "src/ottla/protocol/schemas"


def generated_messages(root: Path) -> dict[Path, str]:
    schemas = read_schemas(root / SCHEMAS)
    folder = root / "src" / "ottla" / "protocol"
    files = {folder / "api_keys.py": api_table_source(schemas)}
    files[folder / "messages" / "__init__.py"] = loader_source()
    for schema in schemas:
        files |= message_modules(schema, root, folder / "messages")
    return files


def message_modules(schema: Schema, root: Path, folder: Path) -> dict[Path, str]:
    path = str(schema.path.relative_to(root / "src" / "ottla" / "protocol"))
    return {
        folder / f"{message.module}.py": module_source(schema, message, path)
        for message in schema.messages
    }
