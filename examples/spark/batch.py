"""Write rows into a topic and read them back as a DataFrame. No jar, no registration.

ottla up                         # in one window
python examples/spark/batch.py   # in another; takes HOST:PORT if it is not localhost:9092
"""

import os
import sys

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers run this Python too

from pyspark.sql import SparkSession
from pyspark.sql import functions as f

SERVERS = sys.argv[1] if len(sys.argv) > 1 else "localhost:9092"
ORDERS = [(1, "tea", 2), (2, "coffee", 1), (3, "tea", 5)]

spark = (
    SparkSession.builder.master("local[2]")
    .config("spark.ui.enabled", "false")
    .config("spark.sql.shuffle.partitions", 2)
    .getOrCreate()
)

orders = spark.createDataFrame(ORDERS, "id int, item string, cups int")
(
    orders.select(f.col("item").alias("key"), f.to_json(f.struct("*")).alias("value"))
    .write.format("ottla")
    .option("kafka.bootstrap.servers", SERVERS)
    .option("topic", "orders")
    .mode("append")
    .save()  # all rows or none
)

# The values are decoded inside the source: `value` is a struct.
topic = (
    spark.read.format("ottla")
    .option("kafka.bootstrap.servers", SERVERS)
    .option("subscribe", "orders")
    .option("valueFormat", "json")
    .option("valueSchema", "id int, item string, cups int")
    .load()
)
for row in (
    topic.groupBy("value.item").agg(f.sum("value.cups").alias("cups")).orderBy("item").collect()
):
    print(f"{row['item']}: {row['cups']} cups")
spark.stop()
