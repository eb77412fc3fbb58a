"""Which faults are planted, and in what."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest
from tools.mutants.mutant import MODULE, Mutant, find_mutants, mutated_tree, sample

SOURCES = {
    "compare-boundary": ("def f(a, b):\n    return a < b", {"a < b -> a <= b"}),
    "negate": ("def f(a):\n    return not a", {"not a -> a"}),
    "condition": (
        "def f(a):\n    if a:\n        return 1\n    return 2 if a else 3",
        {"if a: -> if True:", "if a: -> if False:", "2 if a else 3 -> 2", "2 if a else 3 -> 3"},
    ),
    "boolean": (
        "def f(a, b):\n    return a and b",
        {"a and b -> a or b", "a and b -> a", "a and b -> b"},
    ),
    "arithmetic": ("def f(a, b):\n    a += 1\n    return a & b", {
        "a += 1 -> a -= 1", "a & b -> a | b", "a & b -> a",
    }),
    "constant": (
        "def f():\n    return [True, 7]",
        {"True -> False", "7 -> 8", "7 -> 6"},
    ),
    "drop-statement": (
        "def f(self):\n    self.go()\n    self.a = 1\n    b = 2\n    raise ValueError(b)",
        {"self.go() -> pass", "self.a = 1 -> pass", "raise ValueError(b) -> pass"},
    ),
    "returned": (
        "def f(a) -> bool:\n    return a\n\ndef g(a) -> int:\n    return a\n\n"
        "def h(a) -> str:\n    return a",
        {"return a -> return True", "return a -> return False", "return a -> return 0",
         "return a -> return None"},
    ),
    "swap-arguments": (
        "def f(g, a, b):\n    return g(a, b, 3)", {"g(a, b, 3) -> g(b, a, 3)"},
    ),
    "drop-keyword": ("def f(g):\n    return g(1, x=2)", {"g(1, x=2) -> g(1)"}),
    "other-function": (
        "def f(a, b):\n    return max(a, b)",
        {"max(a, b) -> min(a, b)", "max(a, b) -> a", "max(a, b) -> b"},
    ),
    "bounds": (
        "def f(a):\n    return a[0] + a[1:]",
        {"a[0] -> a[-1]", "a[1:] -> a[:]"},
    ),
    "same-unit": (
        "def f(t, last_ms):\n    start_ms = last_ms\n    return t.first_ms - t.end_ms",
        {"last_ms -> start_ms", "t.first_ms -> t.end_ms", "t.end_ms -> t.first_ms"},
    ),
    "handler": (
        "def f(g):\n    try:\n        g()\n    except ValueError:\n        return 1",
        {"except ValueError:     return 1 -> except ValueError:     raise"},
    ),
}  # fmt: skip


def mutants_of(source: str, folder: Path) -> list[Mutant]:
    path = folder / "module.py"
    path.write_text(source)
    return find_mutants(path, folder)


@pytest.mark.parametrize("operator", SOURCES)
def test_an_operator_makes_its_mistakes(operator: str, tmp_path: Path) -> None:
    source, expected = SOURCES[operator]
    found = mutants_of(source, tmp_path)
    assert {each.change for each in found if each.operator == operator} == expected


@pytest.mark.parametrize("operator", SOURCES)
def test_every_mutant_compiles_and_differs(operator: str, tmp_path: Path) -> None:
    source, _ = SOURCES[operator]
    original = ast.dump(ast.parse(source))
    for mutant in mutants_of(source, tmp_path):
        tree = mutated_tree(source, mutant)
        compile(tree, "module.py", "exec")
        assert ast.dump(tree) != original


@pytest.mark.parametrize(
    "source",
    [
        '"""Of 3 < 4."""',
        "def f(a):\n    log.info('%d', a + 1)",
        "def f(a):\n    assert a > 0, a",
        "def f(a):\n    b: list[int] = f'{a + 1}'",
        "def __repr__(self):\n    return self.a + 1",
        "if TYPE_CHECKING:\n    x = 3",
        "async def f(a):\n    b = asyncio.sleep(a + 3)",
        "def f(a):\n    yield 0",
    ],
)
def test_what_only_people_read_has_no_mutants(source: str, tmp_path: Path) -> None:
    assert mutants_of(source, tmp_path) == []


def test_mutants_know_their_function_and_lines(tmp_path: Path) -> None:
    source = "X = 3\nclass A:\n    def f(self, a=5):\n        def g():\n            return 7\n"
    found = {each.change: each for each in mutants_of(source, tmp_path)}
    assert found["3 -> 4"].function == MODULE
    assert (found["5 -> 6"].function, found["5 -> 6"].is_default) == ("A.f", True)
    inner = found["7 -> 8"]
    assert (inner.function, inner.lines, inner.is_default) == ("A.f", (5, 5), False)
    assert inner.function_lines == (4, 5)


def test_the_same_change_twice_has_two_names(tmp_path: Path) -> None:
    source = "def f(a):\n    b = a + 1\n    return a + 1"
    found = mutants_of(source, tmp_path)
    assert len({each.key for each in found}) == len(found)
    first, second = (each for each in found if each.change == "1 -> 2")
    assert ast.unparse(mutated_tree(source, first)).count("a + 2") == 1
    assert ast.unparse(mutated_tree(source, second)).endswith("a + 2")


def test_a_name_outlives_changes_elsewhere_in_the_file(tmp_path: Path) -> None:
    source = "def f(a):\n    return a < 1"
    before = {each.key for each in mutants_of(source, tmp_path)}
    after = {each.key for each in mutants_of(f"import os\n\n{source}\n", tmp_path)}
    assert before == after
    with pytest.raises(LookupError):
        mutated_tree("def f(a):\n    return a", mutants_of(source, tmp_path)[0])


def test_a_larger_sample_contains_the_smaller_and_a_seed_chooses_another(tmp_path: Path) -> None:
    found = mutants_of("\n".join(f"A{number} = {number}" for number in range(50)), tmp_path)
    small, large = sample(found, 10, seed=1), sample(found, 30, seed=1)
    assert large[:10] == small
    assert sample(reversed(found), 10, seed=1) == small
    assert sample(found, 10, seed=2) != small
    assert len(sample(found, None, seed=1)) == len(found) == 100
