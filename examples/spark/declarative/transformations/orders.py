"""A topic becomes a table, and some of its rows go to another topic."""

import os

from pyspark import pipelines as dp
from pyspark.sql import DataFrame, SparkSession

SERVERS = os.environ.get("OTTLA_BOOTSTRAP", "localhost:9092")
spark = SparkSession.active()


@dp.table(name="orders")
def orders() -> DataFrame:
    records = (
        spark.readStream.format("ottla")
        .option("kafka.bootstrap.servers", SERVERS)
        .option("subscribe", "orders")
        .option("startingOffsets", "earliest")
        .load()
    )
    return records.selectExpr("CAST(value AS STRING) AS value", "partition", "offset", "timestamp")


dp.create_sink(
    "large_orders", "ottla", {"kafka.bootstrap.servers": SERVERS, "topic": "orders.large"}
)


@dp.append_flow(target="large_orders")
def large() -> DataFrame:
    return spark.readStream.table("orders").where("length(value) > 15").select("value")
