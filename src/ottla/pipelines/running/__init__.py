"""A declared pipeline as a Structured Streaming query.

service      all pipelines of a file in one session: start, watch, restart, stop
query        one pipeline: its source, its transform, its batches        session  cluster_options
batch        one batch on the driver: tasks write, side outputs first, the main commit last
tasks        one task of a batch: rows to files and records, and a report
classify     which rows are bad or late                    side_records  what becomes of them
chosen_offsets  which rows a repair reads again
transforms   sql and Python over the records               checkpoint    offsets of a batch
fence        a second run of a pipeline ends the first     limits  restarts: decisions
"""
