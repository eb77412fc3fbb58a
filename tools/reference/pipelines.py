"""The page `docs/reference/pipelines.md`: every key of a pipeline file, as declared."""

from __future__ import annotations

from ottla.pipelines.declaration.reference import reference_lines

TOP = """\
<!-- Generated from src/ottla/pipelines/declaration/tree.py by `make generate`. -->
# Keys of pipeline files

[The guide](../guides/pipelines.md) shows them in use. Durations are written `30s`, `10m`, `2h`.
Paths are relative to the file. An unknown key, or a value that does not fit, is an error with its
line."""


def pipelines_page() -> str:
    return "\n".join([TOP, *reference_lines(), ""])
