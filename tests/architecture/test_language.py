"""Docstrings, comments and documents use standard terms instead of figures of speech.

The list has only constructions that are never needed in a technical text, with what to write.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.architecture.sources import FILES, ROOT, SOURCE, by_folder, nodes_of

pytestmark = pytest.mark.xdist_group("architecture")

# A construction, and what to write instead.
AVOIDED = {
    r"(no|some|any|every)body": "the component: the client, the caller, another process",
    r"who(so)?ever": "the component that does it",
    r"(is|are|be|was|were) told": "is notified, receives, the response contains",
    r"(has|have|had|get|gets) (its|their) turn": "runs; is served round-robin",
    r"turns? of the (event )?loop": "iteration of the event loop",
    r"anew": "again; a new one",
    r"here and now": "immediately",
    r"now and then": "periodically",
    r"in good order": "cleanly",
    r"for ever": "forever; without a limit",
    r"makes? no circles": "has no reference cycles",
    r"none of (our|its|their) business": "ignored",
    r"the benefit of the doubt": "assumes that",
}
PATTERN = re.compile(rf"\b({'|'.join(AVOIDED)})\b", re.IGNORECASE)

GENERATED = SOURCE / "protocol" / "messages"
SOURCES = [path for path in FILES if not path.is_relative_to(GENERATED)]
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "demo/*.md", "benchmarks/*.md", "examples/*.md")
    for path in ROOT.glob(pattern)
    if path.name != "CHANGELOG.md"
)


def remarks_of(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of all docstrings and comments."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in nodes_of(path):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef):
            text = ast.get_docstring(node, clean=False)
            if text is not None:
                yield node.body[0].lineno, text


def advice(text: str) -> list[str]:
    """What to write instead of each avoided construction. Names in backquotes are not checked."""
    prose = re.sub(r"\s+", " ", re.sub(r"`[^`]*`", "", text))
    return [
        f"{match[0]!r}: write {instead}"
        for match in PATTERN.finditer(prose)
        for construction, instead in AVOIDED.items()
        if re.fullmatch(construction, match[0], re.IGNORECASE)
    ]


def findings(path: Path) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{line}: {each}"
        for line, text in remarks_of(path)
        for each in advice(text)
    ]


MODULES = by_folder(SOURCES)


@pytest.mark.parametrize("folder", MODULES)
def test_docstrings_and_comments_use_standard_terms(folder: str) -> None:
    assert [found for path in MODULES[folder] for found in findings(path)] == []


def prose_of(document: str) -> str:
    """Without code blocks, which quote programs and their output."""
    return re.sub(r"^ *```.*?^ *```", "", document, flags=re.DOTALL | re.MULTILINE)


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_documents_use_standard_terms(path: Path) -> None:
    assert advice(prose_of(path.read_text())) == []


@pytest.mark.parametrize(
    ("text", "count"),
    [
        ("Nobody waits for it.", 1),
        ("The client\nis told what is wrong, and begins anew.", 2),
        ("`nobody` is a name, and so is `is told`.", 0),
        ("The response contains the error; a renewed lease is kept.", 0),
    ],
)
def test_constructions_are_found_across_lines_and_not_in_names(text: str, count: int) -> None:
    assert len(advice(text)) == count
