"""Decisions about reading. Pure: what the cluster says and the time are passed in.

stream_offsets   how far a stream has come, as its checkpoint holds it
stream_changes   the topics of now compared with the checkpoint; where a batch begins
trigger_limits   how much of what is waiting a micro-batch may hold
admission        how far the next micro-batch reaches
range_splitting  ranges of offsets, split where they are large
range_packing    small ranges that share a task
read_tasks       what Spark carries to the tasks
pushed_filters   bounds on partition, offset and timestamp, from a query's filters
"""
