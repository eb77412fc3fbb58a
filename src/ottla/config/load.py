"""Broker settings from a properties file, the environment and the command line.

Precedence  `--set name=value`, then `OTTLA_NAME`, then the file, then the default.
Promises    a `server.properties` of Apache Kafka loads, for KRaft and for ZooKeeper; keys without
            meaning here are listed in a notice, and all errors are reported in one InvalidOption,
            with their sources.
Leaves      reading the file to the caller, `listeners` to `listeners.py`.
"""

from __future__ import annotations

import difflib
from codecs import BOM_UTF8
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

from ottla.base.java.properties import parse_properties
from ottla.base.log_messages.log_text import shown
from ottla.config.broker_checks import ConfigProblem, parse_broker_config
from ottla.config.broker_options import BROKER_OPTIONS, EMBEDDED_DEFAULTS, BrokerConfig
from ottla.config.kafka_keys import REMOVED, is_without_meaning, refused_for
from ottla.config.layers import BrokerLayers, default_texts
from ottla.config.listener_options import broker_option
from ottla.config.listeners import Listeners, listeners_of
from ottla.config.options import InvalidOption

ENVIRONMENT_PREFIX = "OTTLA_"
COMMAND_LINE = "--set"
PROBLEMS_SHOWN_MAX = 20
_IDS = ("node.id", "broker.id")  # synonyms
# Names of one thing. Within one source the first counts, as in Kafka.
_SYNONYMS = (
    frozenset(_IDS),
    frozenset(("log.dirs", "log.dir")),
    frozenset(("log.retention.ms", "log.retention.minutes", "log.retention.hours")),
    frozenset(("log.roll.ms", "log.roll.hours")),
    frozenset(("log.roll.jitter.ms", "log.roll.jitter.hours")),
)
ZOOKEEPER_CONNECT = "zookeeper.connect"
_ENVIRONMENT_NAMES = {
    ENVIRONMENT_PREFIX + name.upper().replace(".", "_"): name for name in BROKER_OPTIONS
}


class PropertiesFile(NamedTuple):
    name: str
    content: bytes


@dataclass(frozen=True, slots=True)
class LoadedConfig:
    config: BrokerConfig
    listeners: Listeners
    layers: BrokerLayers  # as texts, with defaults
    notices: tuple[str, ...]


class GivenSetting(NamedTuple):
    """One setting as it was given."""

    name: str
    text: str
    source: str


def load_config(
    file: PropertiesFile | None = None,
    environment: Mapping[str, str] | None = None,
    settings: Iterable[str] = (),
    *,
    is_embedded: bool | None = None,
) -> LoadedConfig:
    """`is_embedded`: whether defaults are those of a broker without a cluster; unless it is given,
    they are if there is no `zookeeper.connect`."""
    given = _without_overridden(
        _from_file(file) if file is not None else [],
        _from_environment(environment or {}),
        _from_command_line(settings),
    )
    last = {each.name: each for each in given}  # later sources override earlier ones
    known = {name: each for name, each in last.items() if broker_option(name) is not None}
    others = [each for name, each in last.items() if name not in known]
    problems = [p for each in others if (p := _problem_with_key(each)) is not None]
    static = _with_one_id({name: each.text for name, each in known.items()})
    if is_embedded is None:
        is_embedded = not static.get(ZOOKEEPER_CONNECT, "").strip()
    defaults = default_texts() | (dict(EMBEDDED_DEFAULTS) if is_embedded else {})
    config, wrong = parse_broker_config(defaults | static)
    problems += [_with_source(each, known) for each in wrong if not _is_repeated(each, known)]
    problems += [
        f"{each.source}: {name}: no directory is named"
        for name, each in known.items()
        if name == "log.dirs" and not each.text.strip() and "log.dir" not in known
    ]
    if problems:
        raise InvalidOption("\n".join(_first(problems)))
    listeners = listeners_of(config, _controller_names(last))
    notices = [*_notices(others), *_unknown_variables(environment or {})]
    return LoadedConfig(config, listeners, BrokerLayers({}, {}, static, defaults), tuple(notices))


def _first(problems: list[str]) -> list[str]:
    more = len(problems) - PROBLEMS_SHOWN_MAX
    return [*problems[:PROBLEMS_SHOWN_MAX], *([f"and {more} more"] if more > 0 else [])]


def _from_file(file: PropertiesFile) -> list[GivenSetting]:
    if b"\0" in file.content:
        raise InvalidOption(f"{file.name}: not a file of settings, a line each: name=value")
    try:
        values = parse_properties(file.content.removeprefix(BOM_UTF8))  # as editors may write it
    except ValueError as error:
        raise InvalidOption(f"{file.name}: {error}") from error
    return [GivenSetting(name, text, file.name) for name, text in values.items()]


def _without_overridden(*sources: list[GivenSetting]) -> list[GivenSetting]:
    """The settings without those that a later source gives under another name."""
    kept: list[GivenSetting] = []
    for source in sources:
        names = {each.name for each in source if not _requests_any_id(each.name, each.text)}
        overridden = frozenset[str]().union(*(each for each in _SYNONYMS if each & names))
        kept = [each for each in kept if each.name not in overridden] + source
    return kept


def _requests_any_id(name: str, text: str) -> bool:
    return name == "broker.id" and text.strip().startswith("-")


def _from_environment(environment: Mapping[str, str]) -> list[GivenSetting]:
    return [
        GivenSetting(_ENVIRONMENT_NAMES[variable], text, variable)
        for variable, text in environment.items()
        if variable in _ENVIRONMENT_NAMES
    ]


def _from_command_line(settings: Iterable[str]) -> list[GivenSetting]:
    given = []
    for setting in settings:
        name, equals, text = setting.partition("=")
        if not equals or not name.strip():
            raise InvalidOption(f"{COMMAND_LINE} {setting}: expected name=value")
        given.append(GivenSetting(name.strip(), text, COMMAND_LINE))
    return given


def _problem_with_key(given: GivenSetting) -> str | None:
    if is_without_meaning(given.name, given.text):
        return None
    if (feature := refused_for(given.name)) is not None:
        return f"{given.source}: {given.name}: {feature} is not supported yet"
    if (successor := REMOVED.get(given.name)) is not None:
        return f"{given.source}: {given.name}: removed in Kafka 3.0, replaced by {successor}"
    if not given.name:
        return f"{given.source}: a setting without a name: ={shown(given.text)}"
    hint = _similar(given.name, BROKER_OPTIONS)
    return f"{given.source}: {shown(given.name)}: no such setting{hint}"


def _similar(name: str, known: Iterable[str]) -> str:
    similar = difflib.get_close_matches(name, known, n=1, cutoff=0.8)
    return f"; did you mean {similar[0]}?" if similar else ""


def _with_one_id(static: dict[str, str]) -> dict[str, str]:
    """`broker.id` and `node.id` are synonyms. A negative `broker.id` requests any id and is
    ignored."""
    if _requests_any_id("broker.id", static.get("broker.id", "")):
        static = {name: text for name, text in static.items() if name != "broker.id"}
    given = [static[name] for name in _IDS if name in static]
    return {"node.id": given[0], "broker.id": given[0]} | static if given else static


def _is_repeated(problem: ConfigProblem, known: Mapping[str, GivenSetting]) -> bool:
    """Whether the problem is that of `broker.id` or `node.id` again, under the name that was not
    given."""
    others = {name for name in _IDS if name not in problem.settings}
    return (
        len(others) < len(_IDS) and not known.keys() & problem.settings and others <= known.keys()
    )


def _with_source(problem: ConfigProblem, known: Mapping[str, GivenSetting]) -> str:
    """The error with the file, variable or argument of the first of its settings."""
    source = next((known[name].source for name in problem.settings if name in known), None)
    return problem.message if source is None else f"{source}: {problem.message}"


def _controller_names(last: Mapping[str, GivenSetting]) -> list[str]:
    given = last.get("controller.listener.names")
    return [] if given is None else [name.strip().upper() for name in given.text.split(",")]


def _notices(others: list[GivenSetting]) -> list[str]:
    """One notice per source, with all keys that have no meaning here."""
    by_source: dict[str, list[str]] = {}
    for each in others:
        by_source.setdefault(each.source, []).append(each.name)
    return [
        f"{source}: settings of Kafka without effect here: {', '.join(sorted(names))}"
        for source, names in by_source.items()
    ]


def _unknown_variables(environment: Mapping[str, str]) -> list[str]:
    """Variables with our prefix that are not settings: for other tools, or misspelt."""
    return [
        f"the variable {shown(variable)} is not a setting of a broker, and has no effect"
        + _similar(variable, _ENVIRONMENT_NAMES)
        for variable in sorted(environment)
        if variable.startswith(ENVIRONMENT_PREFIX) and variable not in _ENVIRONMENT_NAMES
    ]
