"""The Spark data source `ottla`: topics as DataFrames, batch and streaming, without a jar.

    spark.read.format("ottla").option("kafka.bootstrap.servers", "host:9092")
        .option("subscribe", "orders").load()

Columns and options are those of Spark's own `kafka` format. `pyspark_ottla` is what Spark finds;
everything here is imported when a query uses it. Reaches brokers over the wire only.

    options ── positions ── topics          what was asked for, and which partitions that is
       │                       │
    batch_reader   stream_reader            on the driver: offsets, ranges, limits, data loss
       └───────┬───────┘
          task_reader ── columns            on the executors: fetch, decode, Arrow
"""
