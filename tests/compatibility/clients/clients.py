"""Which clients the tests run with; Java's only where there is a Java."""

from __future__ import annotations

from collections.abc import Sequence

import pytest

LIBRDKAFKA, KAFKA_PYTHON, AIOKAFKA = "confluent-kafka", "kafka-python", "aiokafka"
JAVA, JAVA_3_9 = "java", "java-3.9"  # the newest release, and the last of the one before it
JAVAS = (JAVA, JAVA_3_9)
# Records of tests are of long ago, and a broker looks every few minutes for such.
KEEPING = {"log.retention.ms": "-1"}
# A broker that is started often has little for its coordinators to load.
FEW_SHARDS = {"transaction.state.log.num.partitions": "3", "offsets.topic.num.partitions": "3"}
NAMES = (LIBRDKAFKA, KAFKA_PYTHON, AIOKAFKA, *JAVAS)


def cases(*names: str, values: Sequence[object] | None = None) -> object:
    """One case of a test, which needs Java if one of these clients does."""
    marks = [pytest.mark.java] if set(names) & set(JAVAS) else []
    return pytest.param(*(values or names), marks=marks, id="-to-".join(names))


EVERY_CLIENT = [cases(name) for name in NAMES]
EVERY_JAVA = [cases(name) for name in JAVAS]
EVERY_PAIR = [cases(writer, reader) for writer in NAMES for reader in NAMES]
# Each sends to the next: every client writes once and reads once.
RING = [cases(writer, reader) for writer, reader in zip(NAMES, NAMES[1:] + NAMES[:1], strict=True)]
