"""Writing with the format `ottla`: batches all or nothing, streams exactly once, without a jar.

    df.write.format("ottla").option("kafka.bootstrap.servers", "host:9092")
        .option("topic", "orders").mode("append").save()

Every task attempt writes in a transaction of its own and leaves it open. The driver writes the list
of those that count into one record, the decision, then commits these and aborts all others.

    setup            the options and columns of a write, checked     input_columns  names
    writers          what Spark calls
    driver           on the driver: fence, recover, decide, commit, abort
    plan             the rules of that, without I/O                  outcomes
    decision_log     the decisions topic                             decisions  decision_copy
    task_writer      on the executors: one attempt, one transaction
    row_partitioning rows to partitions
    messages         between driver and tasks                        errors  broker_errors
"""
