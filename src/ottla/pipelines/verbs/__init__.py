"""What can be done with a declared pipeline besides running it.

skeleton    a file to begin with
validate    checks without reading records
backfill    records that a table lacks        missing  times: which offsets these are
compact     small files of closed hours into large ones
"""
