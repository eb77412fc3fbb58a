"""Behaviour of Java that clients and files of Kafka depend on."""
