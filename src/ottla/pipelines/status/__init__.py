"""What is known of pipelines without Spark: the topic `ottla-pipelines`, and their lag."""
