"""The options of a query: declared once, parsed, and checked against each other.

option_table      a table of declarations, and parsing with it
source_options    options for reading            sink_options      options for writing
source_checks     what must hold between them
positions         startingOffsets and its like   durations         `15m`, `500ms`
kafka_settings    what begins with `kafka.`: the common part
consumer_options  ... for reading                producer_options  ... for writing
"""
