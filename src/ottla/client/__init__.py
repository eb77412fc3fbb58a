"""A small blocking Kafka client of our own, for Spark tasks, pipelines and tools.

Plain sockets and plain calls, no event loop: whoever uses it is a synchronous process. It speaks
to any Kafka-compatible cluster, moves record batches as bytes, and leaves records to
`protocol.records`.

    with Cluster(ClientSettings("localhost:9092")) as cluster:
        for fetched in fetch_range(cluster, TopicPartition("orders", 0), 0, 1000):
            for table in read_arrow(fetched.data, from_offset=fetched.start_offset,
                                    end_offset=fetched.end_offset, is_wanted=fetched.is_wanted):
                ...
"""
