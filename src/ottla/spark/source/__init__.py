"""Reading topics.

query             a query's options and schema, parsed and checked
batch_reader      spark.read: plans on the driver
stream_reader     spark.readStream: the driver's side
topics            which partitions a query reads
position_lookup   earliest, latest, offsets and times, looked up in the logs
task_planning     ranges to tasks, with record_sizes
group_progress    a stream's progress, committed to a consumer group
data_loss         the option failOnDataLoss
task_reader       on the executors: fetch and decode
parquet_files     the option filesTo: tasks write files
"""
