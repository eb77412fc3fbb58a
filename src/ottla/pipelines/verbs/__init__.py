"""What can be done with a declared pipeline besides running it.

skeleton    a file to begin with         validate   checks without reading records
backfill    records that a table lacks, by time, by offsets, or by what is missing
missing     offsets that a table should have and has not
"""
