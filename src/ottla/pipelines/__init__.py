"""Data pipelines on Spark: declared, run, watched, repaired and proved.

    ottla pipeline run orders.yaml

    declaration/  what a pipeline file or a Python program declares: one tree, checked
    running/      a declared pipeline as a Structured Streaming query: tasks write and report,
                  the driver commits once
    lake/         tables that a batch is committed to exactly once: Parquet, Delta, Iceberg
    status/       the record of each batch, in the compacted topic `ottla-pipelines`
    sums/         counts and checksums of records, which tables and the audit are compared by
    audit/        sums of every tier, and whether they agree
    verbs/        work on a pipeline besides running it: checks, backfills
    trials/       given records against expected rows, on a broker of their own

Owns      everything between a topic and a table or another topic.
Leaves    reading and writing topics to `spark/`, brokers to the wire.

Decision 15 explains why pipelines are plain Structured Streaming queries.
"""
