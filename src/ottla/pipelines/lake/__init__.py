"""Tables of files, to which a batch is committed exactly once.

    manifest        what one commit is: the offsets it covers, the files it adds, their sums
    commit_plan     whether a batch continues a table, was committed before, or is refused
    ownership       whose table it is: one pipeline's
    committing      the loop around it, for all formats
    table           what the formats have in common          opening
    parquet_table   a directory of Parquet files: the manifest is the decision
    delta_table     Delta, through deltalake                 iceberg_table  through pyiceberg
    file_writing    in tasks: rows to files by hour          columns  hours
    manifest_files  the directory `_ottla` of a table

Every commit names the offsets it covers of each partition, and continues where the one before
ends. So the table itself decides what comes next, even if the checkpoint of a query was lost.
"""
