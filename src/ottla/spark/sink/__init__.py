"""Writing with the format `ottla`: batches all or nothing, streams exactly once, without a jar.

    df.write.format("ottla").option("kafka.bootstrap.servers", "host:9092")
        .option("topic", "orders").mode("append").save()

Every task attempt writes in a transaction of its own and leaves it open; the driver writes down
which of them count, in one record, and then commits these and aborts all others.

    options  columns  names        what was asked for, checked on the driver
        |
    writers ── driver              fence, recover; decide, commit, abort   (decision_log, plan)
        |
    task_writer ── splitting       on the executors: rows to partitions to record batches
"""
