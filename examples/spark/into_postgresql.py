"""A stream into a PostgreSQL table, every record exactly once, without a JDBC jar.

Spark may run a batch again after a crash. So the number of the batch is written in the same
database transaction as its rows, and a batch whose number is there already is left out.

python examples/spark/into_postgresql.py HOST:PORT postgresql://user@host/database
"""

import os
import sys
import tempfile

os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers run this Python too

import psycopg
from confluent_kafka import Producer
from pyspark.sql import DataFrame, SparkSession

SERVERS, DATABASE = sys.argv[1:3]
PIPELINE, COUNT = "orders-to-postgresql", 1000


def prepare() -> None:
    producer = Producer({"bootstrap.servers": SERVERS, "enable.idempotence": True})
    for number in range(COUNT):
        producer.produce("purchases", value=f'{{"id": {number}, "item": "tea"}}')
    producer.flush()
    with psycopg.connect(DATABASE) as database:
        database.execute("CREATE TABLE IF NOT EXISTS purchases (id bigint, item text)")
        database.execute(
            "CREATE TABLE IF NOT EXISTS batches (pipeline text PRIMARY KEY, batch bigint NOT NULL)"
        )


def write_batch(rows: DataFrame, batch: int) -> None:
    with psycopg.connect(DATABASE) as database:  # one transaction: all of it or nothing
        last = database.execute(
            "SELECT batch FROM batches WHERE pipeline = %s FOR UPDATE", [PIPELINE]
        ).fetchone()
        if last is not None and last[0] >= batch:
            return
        with database.cursor().copy("COPY purchases (id, item) FROM STDIN") as copy:
            for row in rows.select("value.id", "value.item").toLocalIterator():
                copy.write_row(row)
        database.execute(
            "INSERT INTO batches VALUES (%s, %s)"
            " ON CONFLICT (pipeline) DO UPDATE SET batch = excluded.batch",
            [PIPELINE, batch],
        )


def run(checkpoint: str) -> None:
    spark = (
        SparkSession.builder.master("local[2]")
        .config("spark.ui.enabled", "false")
        .config("spark.sql.shuffle.partitions", 2)
        .getOrCreate()
    )
    query = (
        spark.readStream.format("ottla")
        .option("kafka.bootstrap.servers", SERVERS)
        .option("subscribe", "purchases")
        .option("startingOffsets", "earliest")
        .option("maxOffsetsPerTrigger", 300)
        .option("valueFormat", "json")
        .option("valueSchema", "id bigint, item string")
        .load()
        .writeStream.foreachBatch(write_batch)
        .option("checkpointLocation", checkpoint)
        .trigger(availableNow=True)
        .start()
    )
    query.awaitTermination()
    spark.stop()


prepare()
run(tempfile.mkdtemp())
with psycopg.connect(DATABASE) as database:
    count, distinct = database.execute(
        "SELECT count(*), count(DISTINCT id) FROM purchases"
    ).fetchone()
    print(f"{count} rows, {distinct} different")
