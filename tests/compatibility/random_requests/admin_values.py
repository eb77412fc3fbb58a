"""Random names and values of settings: mostly right ones, and all ways to be wrong.

Every setting that Apache Kafka declares is in `tests/unit/config/kafka_settings.tsv`, with its
type, its default and what it allows.
"""

from __future__ import annotations

import re
from functools import cache
from pathlib import Path
from random import Random
from typing import NamedTuple

SETTINGS = Path(__file__).parents[2] / "unit" / "config" / "kafka_settings.tsv"
# With a number that is too small, but allowed, Kafka has topics without logs.
FATAL = {"internal.segment.bytes", "segment.index.bytes", "log.index.size.max.bytes"}
NULL = "<null>"
BOUND = re.compile(r"-?[0-9]+")
WRONG_NUMBERS = (
    "", " ", "x", "1.5", "1e3", "0x10", "1_000", "--1", "+", "1L", "2147483648", "-2147483649",
    "9223372036854775808", "9" * 40, "true", "1,2", "NULL",
)  # fmt: skip
# With blanks around a group's number Kafka stores it, and then cannot read the group's settings.
ODD_NUMBERS = ("+5", " 7 ", "007", "-0", "\t8", "1\n")
WRONG_BOOLEANS = ("", "yes", "1", "0", "t", "true,false", "null")
BOOLEANS = ("true", "false", "TRUE", "False", " true ")
DOUBLES = ("0", "1", "0.5", "1.0", ".5", "0.", "1e-3", "1E2", "0.5f", "0.5d", "-0.1", "1.1", "+0.5")
WRONG_DOUBLES = ("", "x", "1,5", "0.5L", "e", "1e", "--1")
ODD_TEXTS = ("", " ", "x", "NULL", ",", "a,b", "é", "x" * 300)
REPLICAS = (
    "*",
    "0:1",
    "0:1,1:1",
    "1:1, 0:1",
    "0:1,0:1",
    "x",
    "0",
    "0:",
    ":1",
    "0:1,*",
    "-1:1",
    " * ",
    "0:1,",
)
ELEMENTS = {
    "cleanup.policy": ("compact", "delete", "x", "", "COMPACT"),
    "metrics": ("*", "org.apache.kafka.producer.", "a", "a.b", "", "org.*"),
    "match": (
        "client_id=a.*", "client_id=differential", "client_software_name=apache-kafka-java",
        "client_source_address=127.0.0.1", "client_source_port=1", "client_id=[", "x=1",
        "client_id", "client_id=", "=a", "client_id=a=b", "client_instance_id=x", "",
        " client_id = a ",
    ),
}  # fmt: skip


class Setting(NamedTuple):
    resource: str
    name: str
    type: str
    default: str
    allowed: str
    scope: str


@cache
def settings_of(resource: str) -> tuple[Setting, ...]:
    lines = SETTINGS.read_text().splitlines()[1:]
    found = [Setting(*(line.split("\t") + [""] * 6)[:6]) for line in lines]
    return tuple(each for each in found if each.resource == resource and each.name not in FATAL)


def draw_value(random: Random, setting: Setting) -> str | None:
    if random.random() < 0.03:
        return None
    match setting.type:
        case "INT" | "LONG" | "SHORT":
            return draw_number(random, setting)
        case "BOOLEAN":
            return random.choice(BOOLEANS if random.random() < 0.7 else WRONG_BOOLEANS)
        case "DOUBLE":
            return random.choice(DOUBLES if random.random() < 0.8 else WRONG_DOUBLES)
        case "LIST":
            return draw_list(random, setting)
    return draw_text(random, setting)


def draw_number(random: Random, setting: Setting) -> str:
    luck = random.random()
    if luck < 0.15:
        return random.choice(WRONG_NUMBERS)
    if luck < 0.25:
        odd = random.choice(ODD_NUMBERS)
        return odd.strip() if setting.resource == "group" else odd
    known = [int(each) for each in BOUND.findall(f"{setting.allowed} {setting.default}")]
    if luck < 0.6 and known:
        return str(random.choice(known) + random.choice((-1, 0, 0, 1)))
    if luck < 0.7:
        return str(random.choice((-1, -2, -3, 0, 2**31 - 1, 2**63 - 1, -(2**31), -(2**63))))
    return str(random.choice((1, 2, 5, 10, 100, 1000, 5000, 60_000, 1_048_576, 10_000_000)))


def draw_list(random: Random, setting: Setting) -> str:
    if "partitionId" in setting.allowed:
        return random.choice(REPLICAS)
    known = next((each for name, each in ELEMENTS.items() if name in setting.name), ("a", "b", ""))
    likely = known[:2] if random.random() < 0.6 else known
    chosen = random.choices(likely, k=random.choice((0, 1, 1, 1, 2, 2, 3)))
    return random.choice((",", ",", ", ", " ,")).join(chosen)


def draw_text(random: Random, setting: Setting) -> str:
    allowed = [each.strip() for each in setting.allowed.strip("[]").split(",") if each.strip()]
    if not allowed or random.random() < 0.15:
        return random.choice(ODD_TEXTS)
    chosen = random.choice(allowed)
    luck = random.random()
    return chosen.upper() if luck < 0.1 else f" {chosen} " if luck < 0.15 else chosen
