"""Records Apache Kafka's answers to the scripts of the differential tests, and compares ours."""
