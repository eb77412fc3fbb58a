"""The table of all keys, for the documentation."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from typing import Any

from ottla.pipelines.declaration import tree
from ottla.pipelines.declaration.keys import KEY, REQUIRED

SECTIONS = (
    ("The file", tree.Declaration),
    ("`clusters.NAME`", tree.ClusterAddress),
    ("`pipelines.NAME`", tree.Pipeline),
    ("`from`", tree.Source),
    ("`value`", tree.Value),
    ("`to`: a lake", tree.Lake),
    ("`to`: a topic", tree.ToTopic),
    ("`bad`", tree.Bad),
    ("`late`", tree.Late),
    ("`watermark`", tree.Watermark),
    ("`tables.NAME`", tree.Table),
)


def reference_lines() -> Iterator[str]:
    for title, kind in SECTIONS:
        yield from ["", f"## {title}", ""]
        doc = (kind.__doc__ or "").strip()
        if not doc.startswith(f"{kind.__name__}("):
            yield from [doc.split("\n\n")[0], ""]
        yield from ["| key | default | meaning |", "| --- | --- | --- |"]
        yield from (_row(each) for each in dataclasses.fields(kind) if KEY in each.metadata)


def _row(each: dataclasses.Field[Any]) -> str:
    shown = each.metadata["shown"] or each.default
    default = "required" if each.default is REQUIRED else f"`{shown}`" if shown else ""
    return f"| `{each.metadata[KEY]}` | {default} | {each.metadata['doc']} |"
