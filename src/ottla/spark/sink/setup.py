"""The options and columns of one write, parsed and checked on the driver, and sent to every task.

Promises  picklable.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from pyspark.sql.types import StructType

from ottla.client.settings import ClientSettings
from ottla.spark.options.producer_options import ProducerOptions, parse_producer_options
from ottla.spark.options.sink_options import SinkOptions, parse_sink_options
from ottla.spark.sink.input_columns import SinkColumns, check_columns


@dataclass(frozen=True)
class SinkSetup:
    options: SinkOptions
    producer: ProducerOptions
    settings: ClientSettings
    columns: SinkColumns


def set_up(schema: StructType, texts: Mapping[str, str]) -> SinkSetup:
    """InvalidOption or InvalidRows names the option or column that is wrong."""
    options = parse_sink_options(texts)
    producer, settings = parse_producer_options(texts)
    return SinkSetup(options, producer, settings, check_columns(schema, options.topic))
