"""Count orders as they come, and see how far the query is with any tool that knows groups.

python examples/spark/streaming.py [HOST:PORT]
"""

import json
import os
import sys
import tempfile

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers run this Python too

from confluent_kafka import Consumer, Producer, TopicPartition
from pyspark.sql import SparkSession
from pyspark.sql import functions as f

SERVERS = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
TOPIC, GROUP = "cups", "cups-counter"

producer = Producer({"bootstrap.servers": SERVERS})
for number in range(100):
    item = "tea" if number % 4 else "coffee"
    producer.produce(TOPIC, key=item, value=json.dumps({"item": item, "cups": 1}))
producer.flush()

spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", 2)
    .getOrCreate()
)
orders = (
    spark.readStream.format("ottla")
    .option("kafka.bootstrap.servers", SERVERS)
    .option("kafka.group.id", GROUP)  # where progress is shown; the checkpoint decides
    .option("subscribe", TOPIC)
    .option("startingOffsets", "earliest")
    .option("maxOffsetsPerTrigger", 30)
    .load()
)
cups = orders.groupBy(f.col("key").cast("string").alias("item")).count()

# availableNow reads what is there in batches of 30 and ends. Without it the query runs on.
with tempfile.TemporaryDirectory() as checkpoint:
    query = (
        cups.writeStream.format("memory")
        .queryName("cups")
        .outputMode("complete")
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    for row in spark.sql("SELECT * FROM cups ORDER BY item").collect():
        print(f"{row['item']}: {row['count']} orders")
spark.stop()

consumer = Consumer({"bootstrap.servers": SERVERS, "group.id": GROUP})
partitions = consumer.list_topics(TOPIC, timeout=30).topics[TOPIC].partitions
places = consumer.committed([TopicPartition(TOPIC, each) for each in partitions], timeout=30)
print(f"the group {GROUP} is at {sum(max(place.offset, 0) for place in places)}")
consumer.close()
