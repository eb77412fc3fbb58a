"""The language of scenario scripts: text to steps. `README.md` describes it.

Owns      the grammar, and the words that each action and expectation takes.
Promises  a script that is not understood is refused as a whole, before anything runs, with file,
          line, what was expected and what is there.
Leaves    what the words do to `stage.py`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import NamedTuple, NoReturn

ARROW = "->"
TOKEN = re.compile(r'\s*(;|->|(?:"[^"]*"|[^\s;"])+)')
PARTITION = re.compile(r"[a-z]+-[0-9]+")
DURATION = re.compile(r"([0-9]+(?:\.[0-9]+)?)(ms|s|m)")
SECONDS = {"ms": 0.001, "s": 1.0, "m": 60.0}

# The words that follow an action, and the options (`name=value`) that it may have.
ACTIONS: Mapping[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "produce": (("partition", "text"), ("acks", "at")),
    "consume": (("partition",), ("at",)),
    "start": (("broker",), ()),
    "stop": (("broker",), ()),
    "kill": (("broker",), ()),
    "lose_power": (("broker",), ()),
    "cut": (("broker", "peer"), ()),
    "heal": ((), ()),
    "advance": (("duration",), ()),
    "settle": ((), ()),
    "elect": (("kind", "partition"), ()),
    "reassign": (("partition", "brokers"), ("at",)),
    "cancel": (("partition",), ()),
    "set": (("topic", "setting"), ("at",)),
    "lose_directory": (("broker", "partition"), ()),
    "replace_directory": (("broker",), ()),
}
# The results of actions. A line expects that of its last action which has one.
WITH_RESULTS: Mapping[str, tuple[str, ...]] = {
    "produce": ("offset", "error"),
    "consume": ("records", "lost", "error"),
    "elect": ("error",),
    "reassign": ("error",),
    "cancel": ("error",),
    "set": ("error",),
}
# The words that follow a result.
RESULTS: Mapping[str, tuple[str, ...]] = {
    "offset": ("number",),
    "error": ("name",),
    "records": ("texts",),
    "lost": ("texts",),
}
# States: `name [partition] = value` or `!=`.
STATES: Mapping[str, tuple[bool, str]] = {  # whether of a partition, and the kind of value
    "leader": (True, "brokers"),
    "in_sync": (True, "brokers"),
    "eligible": (True, "brokers"),
    "replicas": (True, "brokers"),
    "adding": (True, "brokers"),
    "latest": (True, "number"),
    "logs": (True, "equal"),
    "controller": (False, "brokers"),
}
CLUSTER = (
    "brokers", "topic", "partitions", "replicas", "min_in_sync", "controller", "directories",
)  # fmt: skip
KINDS = ("preferred", "unclean")
NOTHING = "none"


class ScenarioError(AssertionError):
    """A script is not understood, or something is not as it says."""

    def __init__(self, place: Place, message: str) -> None:
        super().__init__(f"{place.file}:{place.line}: {message}")


class Place(NamedTuple):
    file: str
    line: int

    def expected(self, what: str, found: str) -> NoReturn:
        raise ScenarioError(self, f"expected {what}, found {found or 'the end of the line'}")


@dataclass(frozen=True)
class Action:
    name: str
    words: tuple[str, ...]
    options: Mapping[str, str]


@dataclass(frozen=True)
class Expectation:
    name: str
    words: tuple[str, ...]  # of a state: the partition, if it has one, and the value
    is_state: bool = False
    is_equal: bool = True
    is_now: bool = False  # it holds at once, and is not waited for


@dataclass(frozen=True)
class Step:
    place: Place
    actions: tuple[Action, ...]
    expectations: tuple[Expectation, ...]


@dataclass(frozen=True)
class Script:
    cluster: Mapping[str, str]
    steps: tuple[Step, ...]


def read_script(path: Path) -> Script:
    return parse(path.read_text(), path.name)


def parse(text: str, file: str) -> Script:
    lines = [
        (Place(file, number), line)
        for number, line in enumerate(text.splitlines(), 1)
        if line.strip() and not line.lstrip().startswith("#")
    ]
    if not lines:
        Place(file, 1).expected("a line that begins with `cluster`", "")
    cluster = _parse_cluster(*lines[0])
    return Script(cluster, tuple(_Line(place, line).step() for place, line in lines[1:]))


def _parse_cluster(place: Place, line: str) -> Mapping[str, str]:
    first, *options = line.split()
    if first != "cluster":
        place.expected("a line that begins with `cluster`", first)
    found = dict(_option(place, each, CLUSTER) for each in options)
    for name in ("brokers", "topic"):
        if name not in found:
            place.expected(f"`{name}=`", "")
    _check(place, "brokers", found["brokers"])
    return found


def _option(place: Place, word: str, known: tuple[str, ...]) -> tuple[str, str]:
    name, equals, value = word.partition("=")
    if not equals or not value or name not in known:
        names = ", ".join(f"`{each}=`" for each in known) or "no option"
        place.expected(names, word)
    return name, value


class _Line:
    """One line after the first: actions, and what is true after them."""

    def __init__(self, place: Place, line: str) -> None:
        self._place = place
        self._words = list(self._split(line.split(" #", maxsplit=1)[0]))

    def _split(self, line: str) -> Iterator[str]:
        position, line = 0, line.rstrip()
        while position < len(line):
            found = TOKEN.match(line, position)
            if found is None:
                self._place.expected("a closing quotation mark", line[position:].strip())
            yield found.group(1)
            position = found.end()

    def step(self) -> Step:
        at = self._words.index(ARROW) if ARROW in self._words else len(self._words)
        actions = tuple(self._action(part) for part in _parts(self._words[:at]))
        expected = tuple(self._expectation(part) for part in _parts(self._words[at + 1 :]))
        if at < len(self._words) and not expected:
            self._place.expected(f"an expectation after {ARROW}", "")
        last = next((each.name for each in reversed(actions) if each.name in WITH_RESULTS), "")
        for each in expected:
            if not each.is_state and each.name not in WITH_RESULTS.get(last, ()):
                found = f"`{each.name}` after `{last}`" if last else f"`{each.name}`"
                self._place.expected("a state, or a result of an action", found)
        return Step(self._place, actions, expected)

    def _action(self, words: list[str]) -> Action:
        name, *rest = words
        if name not in ACTIONS:
            self._place.expected(f"an action ({', '.join(ACTIONS)})", name)
        kinds, options = ACTIONS[name]
        given, others = rest[: len(kinds)], rest[len(kinds) :]
        values = self._values(kinds, given)
        return Action(name, values, dict(_option(self._place, each, options) for each in others))

    def _expectation(self, words: list[str]) -> Expectation:
        is_now = words[0] == "now"
        name, *rest = words[is_now:] or [""]
        if name in RESULTS:
            if rest[len(RESULTS[name]) :]:
                self._place.expected("; or the end of the line", rest[len(RESULTS[name])])
            return Expectation(name, self._values(RESULTS[name], rest))
        if name not in STATES:
            self._place.expected(f"an expectation ({', '.join((*RESULTS, *STATES))})", name)
        has_partition, kind = STATES[name]
        at = 1 if has_partition else 0
        if has_partition:
            self._values(("partition",), rest[:1])
        operator, *value = rest[at:] or [""]
        if operator not in ("=", "!="):
            self._place.expected("= or !=", operator)
        if value[1:]:
            self._place.expected("; or the end of the line", value[1])
        words = [*rest[:at], *self._values((kind,), value)]
        return Expectation(name, tuple(words), True, operator == "=", is_now)

    def _values(self, kinds: tuple[str, ...], given: list[str]) -> tuple[str, ...]:
        for number, kind in enumerate(kinds):
            _check(self._place, kind, given[number] if number < len(given) else "")
        return tuple(each.strip('"') if kind == "text" else each for kind, each in
                     zip(kinds, given, strict=False))  # fmt: skip


def _parts(words: list[str]) -> list[list[str]]:
    """Between semicolons."""
    parts: list[list[str]] = [[]]
    for word in words:
        if word == ";":
            parts.append([])
        else:
            parts[-1].append(word)
    return [each for each in parts if each]


FORMS: Mapping[str, tuple[str, str]] = {
    "partition": (PARTITION.pattern, "a partition, as t-0"),
    "text": (r'"[^"]*"', 'a text in quotation marks, as "a"'),
    "texts": (r'"[^"]*"(,"[^"]*")*|none', 'texts without spaces between them, as "a","b", or none'),
    "broker": (r"[0-9]+", "the id of a broker, as 1"),
    "peer": (r"[0-9]+|zookeeper|all", "the id of another broker, `zookeeper` or `all`"),
    "brokers": (r"[0-9]+(,[0-9]+)*|none", "ids of brokers, as 1,2, or none"),
    "number": (r"[0-9]+", "a number"),
    "duration": (DURATION.pattern, "a duration, as 30s, 200ms or 2m"),
    "kind": ("|".join(KINDS), " or ".join(KINDS)),
    "topic": (r"[a-z]+", "the name of a topic"),
    "setting": (r"[a-z.]+=.+", "a setting, as min.insync.replicas=1"),
    "name": (r"[A-Z_]+", "the name of an error, as NOT_ENOUGH_REPLICAS"),
    "equal": (r"equal", "equal"),
}


def _check(place: Place, kind: str, word: str) -> None:
    form, described = FORMS[kind]
    if not re.fullmatch(form, word):
        place.expected(described, word)


def seconds_of(duration: str) -> float:
    found = DURATION.fullmatch(duration)
    assert found is not None
    return float(found.group(1)) * SECONDS[found.group(2)]


def numbers_of(listed: str) -> tuple[int, ...]:
    return () if listed == NOTHING else tuple(int(each) for each in listed.split(","))


def texts_of(listed: str) -> tuple[str, ...]:
    return () if listed == NOTHING else tuple(re.findall(r'"([^"]*)"', listed))
