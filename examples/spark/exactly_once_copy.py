"""Copy a topic into another, changed on the way, every record exactly once.

Kill it whenever you like and start it again: with the same checkpoint nothing is lost and nothing
comes twice for readers of committed records.

python examples/spark/exactly_once_copy.py [HOST:PORT] [CHECKPOINT]
"""

import os
import sys
import tempfile

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers run this Python too

from confluent_kafka import OFFSET_BEGINNING, Consumer, Producer, TopicPartition
from confluent_kafka.admin import AdminClient, NewTopic
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

SERVERS = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
CHECKPOINT = sys.argv[2] if len(sys.argv) > 2 else tempfile.mkdtemp()
COUNT = 1000


def prepare() -> None:
    admin = AdminClient({"bootstrap.servers": SERVERS})
    for future in admin.create_topics([NewTopic("plain", 1), NewTopic("loud", 1)]).values():
        future.exception()  # they may be there already
    producer = Producer({"bootstrap.servers": SERVERS, "enable.idempotence": True})
    for number in range(COUNT):
        producer.produce("plain", key=str(number), value=f"order {number}")
    producer.flush()


def copy() -> None:
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", 2)
        .getOrCreate()
    )
    plain = (
        spark.readStream.format("ottla")
        .option("kafka.bootstrap.servers", SERVERS)
        .option("kafka.isolation.level", "read_committed")
        .option("subscribe", "plain")
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", 400)
        .load()
    )
    loud = plain.select("key", f.upper(f.col("value").cast("string")).alias("value"))
    (
        loud.writeStream.format("ottla")
        .option("kafka.bootstrap.servers", SERVERS)
        .option("topic", "loud")
        .option("checkpointLocation", CHECKPOINT)
        .trigger(availableNow=True)
        .start()
        .awaitTermination()
    )
    spark.stop()


def check() -> None:
    consumer = Consumer(
        {
            "bootstrap.servers": SERVERS,
            "group.id": "checker",
            "isolation.level": "read_committed",
            "enable.partition.eof": True,
        }
    )
    consumer.assign([TopicPartition("loud", 0, OFFSET_BEGINNING)])
    found = []
    while (message := consumer.poll(30)) is not None and message.error() is None:
        found.append(message.value().decode())
    consumer.close()
    print(f"{len(found)} records, {len(set(found))} different, the last one: {found[-1]}")


prepare()
copy()
check()
