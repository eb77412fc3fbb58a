"""How Spark's JVMs are started in tests: with a class archive, for a short life.

    python -m tests.support.spark_jvm      # the training run: batches and streams of a topic

A driver that starts, reads a topic and stops takes 24 s of CPU time with Spark's own settings and
9 s with these. They are in the environment, so that they hold for every program that a test runs.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, NamedTuple

from tests.support.class_archive import SHORT_LIFE, TrainingFailed, archive_of, option_of
from tests.support.kafka_jars import ROOT

SUBMIT_VARIABLE = "SPARK_SUBMIT_OPTS"  # of the driver
LAUNCHER_VARIABLE = "SPARK_LAUNCHER_OPTS"  # of the JVM that puts the driver's command together
# What programs do not set themselves. 200 partitions are for data of a cluster: each is a task, and
# in a stream a store of state with files of its own.
SMALL = ("-Dspark.sql.shuffle.partitions=2", "-Dspark.ui.enabled=false")
TRAINING_S = 1800.0  # of a busy machine
END_S = 120.0


def short_life_environment(*more: str) -> dict[str, str]:
    driver = " ".join([*SHORT_LIFE, *SMALL, *more])
    return {LAUNCHER_VARIABLE: " ".join(SHORT_LIFE), SUBMIT_VARIABLE: driver}


def use_archive() -> None:
    """From now on, for this process and those it starts."""
    import pyspark

    jars = sorted(path.name for path in (Path(pyspark.__file__).parent / "jars").glob("*.jar"))
    archive = archive_of("spark-streams", [pyspark.__file__, *jars], _train)
    os.environ.update(short_life_environment(option_of(archive)))


class SharedJvm(NamedTuple):
    variables: dict[str, str]  # of the environment of a program
    clear: Callable[[], None]  # before each program: one that failed may have left its Spark


def _stop_context(gateway: Any) -> None:
    """A JVM can have one context only: the next program would be refused."""
    companion = getattr(gateway.jvm.org.apache.spark, "SparkContext$")  # Scala's object
    left = getattr(companion, "MODULE$").getActive()
    if left.isDefined():
        left.get().stop()


@contextmanager
def shared_jvm() -> Iterator[SharedJvm]:
    """A JVM for programs that run one after another.

    Each has a Spark of its own in it, as with `spark-submit`. To load classes again, link thousands
    of lambdas and compile the same methods would take most of the CPU time of a short program.
    """
    from pyspark.java_gateway import launch_gateway

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # the JVM looks for sources with it
    gateway = launch_gateway()
    where = gateway.gateway_parameters
    try:
        variables = {
            "PYSPARK_GATEWAY_PORT": str(where.port),
            "PYSPARK_GATEWAY_SECRET": where.auth_token,
        }
        yield SharedJvm(variables, partial(_stop_context, gateway))
    finally:
        gateway.shutdown()
        gateway.proc.stdin.close()  # its sign to end
        gateway.proc.wait(END_S)


def _train(option: str) -> None:
    # The JVM writes the archive after the program has ended. It holds the same pipes, so it has
    # ended too when this returns.
    done = subprocess.run(
        [sys.executable, "-m", __name__],
        cwd=ROOT,
        env={**os.environ, **short_life_environment(option)},
        capture_output=True,
        text=True,
        timeout=TRAINING_S,
        check=False,
    )
    if done.returncode != 0:  # a Python worker of Spark must start within seconds
        raise TrainingFailed(done.stderr[-4000:])


def main() -> None:
    from ottla.testing import Kafka
    from ottla.testing.broker import RunningBroker
    from ottla.testing.spark import spark_session

    with RunningBroker() as broker, spark_session() as spark, TemporaryDirectory() as folder:
        kafka = Kafka(broker.bootstrap_servers)
        topic = kafka.topic("records")
        kafka.produce(topic, [(str(number), "value") for number in range(10)])
        servers = {"kafka.bootstrap.servers": broker.bootstrap_servers}
        _count(spark, servers | {"subscribe": topic})
        _copy(spark, servers, topic, kafka.topic("copies"), Path(folder))
        kafka.close()


def _count(spark: Any, options: dict[str, str]) -> None:
    rows = spark.read.format("ottla").options(**options).load()
    counted = rows.selectExpr("cast(value as string) value").groupBy("value").count()
    assert counted.collect()[0]["count"] == 10


def _copy(spark: Any, servers: dict[str, str], topic: str, copy: str, folder: Path) -> None:
    """A batch into files, a stream with state into memory, and a stream into a topic."""
    options = servers | {"subscribe": topic, "startingOffsets": "earliest"}
    rows = spark.read.format("ottla").options(**options).load()
    rows.select("key", "value").write.parquet(str(folder / "files"))
    assert spark.read.parquet(str(folder / "files")).count() == 10
    stream = spark.readStream.format("ottla").options(**options).load()
    counted = stream.groupBy("value").count()
    counting = counted.writeStream.format("memory").queryName("counted").outputMode("complete")
    copying = (
        stream.select("key", "value").writeStream.format("ottla").options(**servers, topic=copy)
    )
    for number, writer in enumerate((counting, copying)):
        checkpoint = str(folder / f"checkpoint-{number}")
        query = writer.option("checkpointLocation", checkpoint).trigger(availableNow=True).start()
        query.awaitTermination()
    assert spark.table("counted").collect()[0]["count"] == 10


if __name__ == "__main__":
    main()
