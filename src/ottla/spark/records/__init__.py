"""Fetched record batches made into Arrow batches with Spark's columns. Runs on the executors.

schema            the columns, and which schemas of a user are accepted
decoding          record batches to Arrow batches
columns           the decoder's table to Spark's columns        row_filter  by timestamp
values            the option valueFormat: a struct instead of bytes, and bad values
value_types       the type of decoded values, from the option valueSchema
json_values       JSON, with value_converters for what is not as expected
avro_values       Avro, with avro_schema for its types
"""
