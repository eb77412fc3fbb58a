"""The page `docs/reference/spark-options.md`: every option of format("ottla"), as declared."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from ottla.client.settings import CLIENT_OPTIONS
from ottla.config.options import Option, options_of
from ottla.spark.options import consumer_options, producer_options
from ottla.spark.options.sink_options import SINK_OPTIONS
from ottla.spark.options.source_options import SOURCE_OPTIONS

_HEADER = """\
<!-- Generated from the declarations in src/ottla/spark. Do not edit: make generate renews it. -->

# Options of format("ottla")

Names are those of Spark's own `kafka` format, in any case; "Ours" are additions. An unknown option
is refused together with the nearest known name. [Spark without a
jar](../guides/spark-without-a-jar.md) shows them in use.
"""
_KAFKA = """\
## kafka.*

Settings of a Kafka client, under Kafka's names with the prefix `kafka.`. A setting that is in none
of the lists below is refused, and so is a value of the wrong type. `kafka.ssl.*`, `kafka.sasl.*`
and a `kafka.security.protocol` other than `PLAINTEXT` are refused until TLS and SASL are there.

### Reading and writing
"""
_GROUP_ID = (
    "| `kafka.group.id` |  | The group to which a stream commits its progress. Default: a name "
    "made of groupIdPrefix, the topics and an id from the checkpoint. |"
)


def spark_options_page() -> str:
    producer = options_of(producer_options.ProducerOptions)
    lines = [_HEADER]
    lines += ["## Reading", "", *_table(_declared(SOURCE_OPTIONS)), ""]
    lines += ["## Writing", "", *_table(_declared(SINK_OPTIONS)), ""]
    lines += [_KAFKA, *_table(CLIENT_OPTIONS.values(), "kafka."), ""]
    lines += ["### Reading only", "", *_table((), ""), _GROUP_ID, ""]
    lines += _other_settings(consumer_options.WITHOUT_EFFECT, consumer_options.REFUSED, "reading")
    lines += ["### Writing only", "", *_table(producer.values(), "kafka."), ""]
    refused = producer_options.REFUSED | {"acks": "it must be all, as it is by default"}
    lines += _other_settings(producer_options.WITHOUT_EFFECT, refused, "writing")
    return "\n".join(lines)


def _other_settings(
    without_effect: Iterable[str], refused: Mapping[str, str], use: str
) -> Iterator[str]:
    names = ", ".join(f"`{name}`" for name in sorted(without_effect))
    yield from (f"Accepted without effect when {use}: {names}.", "", f"Refused when {use}:", "")
    yield from (f"- `kafka.{name}`: {advice}" for name, advice in refused.items())
    yield ""


def _declared(options: Mapping[str, tuple[str, Option[Any]]]) -> Iterator[Option[Any]]:
    return (declared for _, declared in options.values())


def _table(options: Iterable[Option[Any]], prefix: str = "") -> Iterator[str]:
    yield "| option | default | meaning |"
    yield "| --- | --- | --- |"
    for declared in options:
        default = declared.default_text
        shown = f"`{default}`" if default else ""
        doc = declared.doc.replace("|", chr(92) + "|")
        yield f"| `{prefix}{declared.name}` | {shown} | {doc} |"
