"""A small blocking Kafka client, for Spark tasks and tools.

It uses blocking sockets and no event loop, because its users are synchronous processes. It works
with any Kafka-compatible cluster, passes record batches on as bytes, and leaves records to
`protocol.records`.

    with Cluster(ClientSettings("localhost:9092")) as cluster:
        for fetched in fetch_range(cluster, TopicPartition("orders", 0), 0, 1000):
            for table in read_arrow(fetched.data, from_offset=fetched.start_offset,
                                    end_offset=fetched.end_offset, is_wanted=fetched.is_wanted):
                ...
"""
