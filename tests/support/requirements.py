"""What some tests need from the machine, by name, and what happens where it is missing.

Owns      the list of requirements, how each is looked for, and how to get it.
Promises  a missing requirement skips its tests with a reason that says what to install; one that
          is named in OTTLA_REQUIRE (`java,maven,native`) fails them instead, so that a run which
          must be complete cannot be quietly incomplete.
Leaves    asking at the right moment to `tests/conftest.py`.
"""

from __future__ import annotations

import importlib
import re
import shutil
import subprocess
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import cache

VARIABLE = "OTTLA_REQUIRE"
JAVA_VERSION_MIN = 17
NATIVE_MODULE = "ottla.protocol.records._native"


@dataclass(frozen=True, slots=True)
class Requirement:
    name: str
    find_missing: Callable[[], str | None]  # what is missing and how to get it, None when there


@dataclass(frozen=True, slots=True)
class Verdict:
    """Why a test cannot run here, and whether that is a failure or a skip."""

    reason: str
    is_failure: bool


def java_version(text: str) -> int | None:
    """The feature release in what `java -version` or `javac -version` prints: 17, or 8 of "1.8"."""
    found = re.search(r'(?:version "|javac )(?:1\.)?(\d+)', text)
    return int(found.group(1)) if found else None


def find_missing_java() -> str | None:
    advice = f"install a JDK of version {JAVA_VERSION_MIN} or newer and put it on the PATH"
    for command in ("java", "javac"):
        if shutil.which(command) is None:
            return f"no {command} on the PATH: {advice}"
        printed = subprocess.run([command, "-version"], capture_output=True, text=True, check=False)
        version = java_version(printed.stderr + printed.stdout)
        if version is None or version < JAVA_VERSION_MIN:
            return f"{command} is version {version or 'unknown'}: {advice}"
    return None


def find_missing_maven() -> str | None:
    if shutil.which("mvn") is None:
        return "no mvn on the PATH: install Apache Maven"
    return None


def find_missing_native() -> str | None:
    try:
        importlib.import_module(NATIVE_MODULE)
    except ImportError as error:
        return (
            f"the compiled module {NATIVE_MODULE} cannot be imported ({error}): "
            "install a C compiler and run pip install --editable . again"
        )
    return None


# Looked for once per process: a JVM start for every test would be felt.
REQUIREMENTS: Mapping[str, Requirement] = {
    requirement.name: requirement
    for requirement in (
        Requirement("java", cache(find_missing_java)),
        Requirement("maven", cache(find_missing_maven)),
        Requirement("native", cache(find_missing_native)),
    )
}

# Markers that tests carry, and what each of them needs.
NEEDS: Mapping[str, tuple[str, ...]] = {"java": ("java", "maven"), "native": ("native",)}


def required_names(value: str) -> frozenset[str]:
    """The names in OTTLA_REQUIRE. ValueError for one that nothing answers to: a typing mistake
    would otherwise turn failures back into skips."""
    names = frozenset(part.strip() for part in value.split(",") if part.strip())
    if unknown := names - REQUIREMENTS.keys():
        raise ValueError(
            f"{VARIABLE} names {', '.join(sorted(unknown))}; known are {', '.join(REQUIREMENTS)}"
        )
    return names


def judge(
    markers: Iterable[str],
    required: frozenset[str],
    requirements: Mapping[str, Requirement] = REQUIREMENTS,
) -> Verdict | None:
    """What to do with a test that carries `markers`; None means that it runs."""
    for name in dict.fromkeys(need for marker in markers for need in NEEDS.get(marker, ())):
        missing = requirements[name].find_missing()
        if missing is not None:
            return Verdict(f"needs {name}: {missing}", is_failure=name in required)
    return None
