"""The Spark data source `ottla`: topics as DataFrames, batch and streaming, without a jar.

    spark.read.format("ottla").option("kafka.bootstrap.servers", "host:9092")
        .option("subscribe", "orders").load()

Columns and options are those of Spark's own `kafka` format. Brokers are reached over the wire only.

    pyspark_ottla        the package that Spark finds; it calls data_source.py
    data_source.py       schema, readers and writers of a query, made from its options
    options/             every option: declaration, parsing, checks between options
    planning/            decisions about reading, without I/O: ranges, limits, changes of topics
    records/             record batches to Arrow batches with Spark's columns; JSON and Avro values
    source/              reading: readers on the driver, tasks on the executors
    sink/                writing: all or nothing, exactly once
    process_model.py     what Spark's processes force on a Python data source
    errors.py            what goes wrong while reading; sink/errors.py while writing

A folder imports those listed before it; source/ and sink/ do not import each other.
"""
