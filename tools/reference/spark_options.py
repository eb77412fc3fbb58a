"""The page `docs/reference/spark-options.md`: every option of format("ottla"), as declared."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from ottla.client.settings import CLIENT_OPTIONS
from ottla.config.options import Option
from ottla.spark.options.consumer_options import REFUSED, WITHOUT_EFFECT
from ottla.spark.options.sink_options import SINK_OPTIONS
from ottla.spark.options.source_options import SOURCE_OPTIONS

_HEADER = """\
<!-- Generated from the declarations in src/ottla/spark. Do not edit: make generate renews it. -->

# Options of format("ottla")

Names are those of Spark's own `kafka` format, in any case; "Ours" are additions. An option nobody
knows is refused together with the nearest known name. [Spark without a
jar](../guides/spark-without-a-jar.md) shows them in use.
"""


def spark_options_page() -> str:
    lines = [_HEADER]
    lines += ["## Reading", "", *_table(SOURCE_OPTIONS), ""]
    lines += ["## Writing", "", *_table(SINK_OPTIONS), ""]
    lines += ["## kafka.*", "", "Settings of the client, under Kafka's names.", ""]
    lines += _table({name: (name, each) for name, each in CLIENT_OPTIONS.items()}, "kafka.")
    ignored = ", ".join(f"`{name}`" for name in sorted(WITHOUT_EFFECT))
    lines += ["", f"Accepted and without effect when reading: {ignored}.", ""]
    lines += ["Refused when reading, with advice:", ""]
    lines += [f"- `kafka.{name}`: {advice}" for name, advice in REFUSED.items()]
    lines += ["", "`kafka.ssl.*` and `kafka.sasl.*` are refused until TLS and SASL are there.", ""]
    return "\n".join(lines)


def _table(options: Mapping[str, tuple[str, Option[Any]]], prefix: str = "") -> Iterator[str]:
    yield "| option | default | meaning |"
    yield "| --- | --- | --- |"
    for _, declared in options.values():
        default = declared.default_text
        shown = "" if default is None else f"`{default}`"
        doc = declared.doc.replace("|", chr(92) + "|")
        yield f"| `{prefix}{declared.name}` | {shown} | {doc} |"
