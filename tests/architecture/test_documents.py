"""Documents name files that exist: links, and modules in code marks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
SOURCE = ROOT / "src" / "ottla"
FOLDERS = "|".join(path.name for path in SOURCE.iterdir() if path.is_dir())
LINK = re.compile(r"\]\(([^)#]+?)(?:#[^)]*)?\)")
MODULE = re.compile(rf"`((?:{FOLDERS}|tests|tools|benchmarks|demo)/[\w/]+\.py)`")
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "demo/*.md", "benchmarks/*.md", "examples/*.md")
    for path in ROOT.glob(pattern)
)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_what_a_document_names_exists(path: Path) -> None:
    text = path.read_text()
    links = [each for each in LINK.findall(text) if "://" not in each]
    assert [each for each in links if not (path.parent / each).exists()] == []
    modules = MODULE.findall(text)
    missing = [e for e in modules if not (SOURCE / e).exists() and not (ROOT / e).exists()]
    assert missing == []
