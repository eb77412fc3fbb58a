"""What commands know about a Kafka cluster: the connection, its topics, groups and offsets."""
