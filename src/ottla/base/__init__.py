"""General-purpose modules without knowledge of Kafka's requests. Imports nothing else of Ottla.

files/         interfaces for file access, the real disk, reads that do not block the event loop
scheduling/    long work in slices, jobs in threads, tasks with an owner, timers
memory/        settings of the allocator and the garbage collector, stored exceptions
log_messages/  escaping, length and rate limits of log messages
java/          behaviour of Java that Kafka's files and responses depend on
"""
