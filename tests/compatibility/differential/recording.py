"""Apache Kafka's answers as files: one for each script, one line for each different answer.

"the latest": {
 "1-3": {"topics": [...]},
 "4-11": {"topics": [...]}
}
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from pathlib import Path

from tests.compatibility.differential.plain import Plain
from tests.compatibility.differential.session import Answers

FOLDER = Path(__file__).parent / "recorded"


def path_of(script: str) -> Path:
    return FOLDER / f"{script}.json"


def write_recording(script: str, by_version: Mapping[int, Answers]) -> None:
    path_of(script).write_text(recording_text(by_version))


def read_recording(script: str) -> dict[int, Answers]:
    """Answers by version; empty if nothing was recorded."""
    path = path_of(script)
    by_version: dict[int, Answers] = {}
    if not path.exists():
        return by_version
    recorded = json.loads(path.read_text())
    for label, answers in recorded.items():
        if isinstance(answers, str):
            answers = recorded[answers]
        for versions, answer in answers.items():
            for version in parse_versions(versions):
                by_version.setdefault(version, {})[label] = answer
    return by_version


def recording_text(by_version: Mapping[int, Answers]) -> str:
    labels = dict.fromkeys(label for answers in by_version.values() for label in answers)
    entries, label_of = [], dict[str, str]()
    for label in labels:
        text = label_text(label, by_version)
        same = label_of.setdefault(text, label)
        entries.append(f"{json.dumps(label)}: {text if same == label else json.dumps(same)}")
    return "{\n" + ",\n".join(entries) + "\n}\n"


def label_text(label: str, by_version: Mapping[int, Answers]) -> str:
    versions_of: dict[str, list[int]] = {}
    for version, answers in by_version.items():
        if label in answers:
            versions_of.setdefault(compact(answers[label]), []).append(version)
    lines = [f' "{shown_versions(versions)}": {text}' for text, versions in versions_of.items()]
    return "{\n" + ",\n".join(lines) + "\n}"


def compact(answer: Plain) -> str:
    return json.dumps(answer, separators=(",", ":"), ensure_ascii=True)


def shown_versions(versions: Iterable[int]) -> str:
    """[3, 4, 5, 9] as "3-5,9"."""
    ranges: list[list[int]] = []
    for version in sorted(versions):
        if ranges and ranges[-1][1] == version - 1:
            ranges[-1][1] = version
        else:
            ranges.append([version, version])
    return ",".join(f"{a}-{b}" if a < b else f"{a}" for a, b in ranges)


def parse_versions(text: str) -> list[int]:
    found: list[int] = []
    for part in text.split(","):
        first, _, last = part.partition("-")
        found += range(int(first), int(last or first) + 1)
    return found
