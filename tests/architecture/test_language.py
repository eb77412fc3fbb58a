"""Docstrings, comments, messages and documents use standard terms instead of figures of speech.

In tests, strings other than docstrings and messages of asserts are data, and are not checked.
The list has only constructions that are never needed in a technical text, with what to write.
"""

from __future__ import annotations

import ast
import io
import re
import tokenize
from collections.abc import Iterable, Iterator
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
    r"who asks": "the client; the response contains",
    r"(is|are|be|been|was|were) owed": "is required; is pending",
    r"(go|goes|going|went|gone) on": "continues",
    r"in vain": "without a result",
    r"by turns": "alternately",
    r"as long as it takes": "until it ends; without a limit",
    r"what (came|comes) of": "the result of",
    r"without a trace": "silently",
    r"gets along": "continues; works",
    r"all the same": "nevertheless",
    r"hears?|heard|overheard": "receives; is notified of",
    r"handed in": "passed as an argument",
    r"(tells?|told) (apart|that|whether|which)": "distinguishes; shows; contains",
    r"tells? the same": "contains the same; equals",
    r"(test|environment) says so": "requests it; is set",
    r"for good": "permanently",
    r"by chance": "at random; sometimes",
    r"both ways": "in both directions",
    r"told": "reported; returned; received",
    r"afresh": "again",
    r"the last word": "the last record; decides",
}
# Words of names that have to be explained, and words for a name that does not.
AVOIDED_IN_NAMES = {
    "told": "messages, results, properties: what it holds",
    "tell": "notify, report",
    "untold": "unreported, uncommitted",
    "news": "updates, changes; is_urgent",
    "owe": "require",
    "owes": "needs, has_pending",
    "owed": "required, pending",
    "nobody": "no_leader, no_producer: what is absent",
    "gone": "deleted, closed, missing, has_exited",
    "alike": "equal",
    "doomed": "to be deleted",
    "unmade": "pending",
    "hurried": "fast",
}
PATTERN = re.compile(rf"\b({'|'.join(AVOIDED)})\b", re.IGNORECASE)

GENERATED = SOURCE / "protocol" / "messages"
SOURCES = [path for path in FILES if not path.is_relative_to(GENERATED)]
PROGRAMS = sorted(
    path
    for folder in ("tests", "tools", "benchmarks", "demo", "examples")
    for path in (ROOT / folder).rglob("*.py")
    if path != Path(__file__)
)
DOCUMENTS = sorted(
    path
    for pattern in ("*.md", "docs/**/*.md", "demo/*.md", "benchmarks/*.md", "examples/*.md")
    for path in ROOT.glob(pattern)
)


def remarks_of(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of all docstrings, comments, and texts with several words, such as messages."""
    for token in tokenize.generate_tokens(io.StringIO(path.read_text()).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in nodes_of(path):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and " " in node.value:
            yield node.lineno, node.value


def in_folders(paths: Iterable[Path]) -> dict[str, list[Path]]:
    found: dict[str, list[Path]] = {}
    for path in paths:
        folder = "/".join(path.parent.relative_to(ROOT).parts[:3])
        found.setdefault(folder, []).append(path)
    return found


def remarks_of_test(path: Path) -> Iterator[tuple[int, str]]:
    """(line, text) of docstrings, comments, and messages of asserts. Other strings are data."""
    content = path.read_text()
    for token in tokenize.generate_tokens(io.StringIO(content).readline):
        if token.type == tokenize.COMMENT:
            yield token.start[0], token.string
    for node in ast.walk(ast.parse(content)):
        match node:
            case ast.Expr(value=ast.Constant(value=str(text))):
                yield node.lineno, text
            case ast.Assert(msg=ast.expr() as message):
                for each in ast.walk(message):
                    if isinstance(each, ast.Constant) and isinstance(each.value, str):
                        yield each.lineno, each.value


def advice(text: str) -> list[str]:
    """What to write instead of each avoided construction. Names in backquotes are not checked."""
    prose = re.sub(r"\s+", " ", re.sub(r"`[^`]*`", "", text))
    return [
        f"{match[0]!r}: write {instead}"
        for match in PATTERN.finditer(prose)
        for construction, instead in AVOIDED.items()
        if re.fullmatch(construction, match[0], re.IGNORECASE)
    ]


def findings(path: Path, remarks: Iterable[tuple[int, str]]) -> list[str]:
    return [
        f"{path.relative_to(ROOT)}:{line}: {each}"
        for line, text in remarks
        for each in advice(text)
    ]


MODULES = by_folder(SOURCES)
FOLDERS = in_folders(PROGRAMS)
PARTS_OF_NAMES = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")


def defined_names(node: ast.AST) -> Iterator[str]:
    """Names that a node defines. Names of other libraries are used, but not defined here."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            yield name
        case ast.Name(id=name, ctx=ast.Store()) | ast.Attribute(attr=name, ctx=ast.Store()):
            yield name
        case ast.arg(arg=name):
            yield name


def advice_on_name(name: str) -> list[str]:
    words = [word.lower() for word in PARTS_OF_NAMES.findall(name)]
    return [
        f"{name}: instead of {word!r} write {AVOIDED_IN_NAMES[word]}"
        for word in words
        if word in AVOIDED_IN_NAMES
    ]


@pytest.mark.parametrize("folder", MODULES)
def test_docstrings_comments_and_messages_use_standard_terms(folder: str) -> None:
    found = [each for path in MODULES[folder] for each in findings(path, remarks_of(path))]
    assert found == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_tests_and_tools_use_standard_terms(folder: str) -> None:
    found = [each for path in FOLDERS[folder] for each in findings(path, remarks_of_test(path))]
    assert found == []


@pytest.mark.parametrize("folder", FOLDERS)
def test_names_in_tests_and_tools_need_no_explanation(folder: str) -> None:
    found = {
        (path.relative_to(ROOT).as_posix(), each)
        for path in FOLDERS[folder]
        for node in ast.walk(ast.parse(path.read_text()))
        for name in defined_names(node)
        for each in advice_on_name(name)
        if "'gone'" not in each  # in the sentence that is the name of a test
    }
    assert found == set()


def test_in_tests_docstrings_comments_and_messages_are_found_but_not_data(tmp_path: Path) -> None:
    path = tmp_path / "test_it.py"
    path.write_text(
        '"""It is told."""\nname = "somebody else"  # for nobody\nassert name, f"{name} goes on"\n'
    )
    found = [each for _, text in remarks_of_test(path) for each in advice(text)]
    assert len(found) == 3


@pytest.mark.parametrize("folder", MODULES)
def test_names_need_no_explanation(folder: str) -> None:
    found = {
        (path.relative_to(ROOT).as_posix(), each)
        for path in MODULES[folder]
        for node in nodes_of(path)
        for name in defined_names(node)
        for each in advice_on_name(name)
    }
    assert found == set()


@pytest.mark.parametrize(
    ("source", "count"),
    [
        ("def is_gone(told): self.news = NOBODY", 3),
        ("class UntoldBytes: owed_answers: int = 0", 2),
        ("position = file.tell()", 0),
        ("tolerance = newsletter = powers", 0),
    ],
)
def test_words_of_names_are_found_where_a_name_is_defined(source: str, count: int) -> None:
    names = [name for node in ast.walk(ast.parse(source)) for name in defined_names(node)]
    assert sum(len(advice_on_name(name)) for name in names) == count


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
