"""Decisions about reading. Pure: the state of the cluster and the time are arguments.

stream_offsets   the offsets of a stream, as stored in its checkpoint
stream_changes   the current topics compared with the checkpoint; the start of a batch
trigger_limits   how many of the available offsets a micro-batch contains
admission        the end of the next micro-batch
range_splitting  large ranges of offsets, split
range_packing    small ranges that share a task
read_tasks       what Spark sends to the tasks
pushed_filters   bounds on partition, offset and timestamp, from a query's filters
"""
