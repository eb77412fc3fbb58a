"""Records Apache Kafka's responses to the scripts of the differential tests, and compares ours."""
