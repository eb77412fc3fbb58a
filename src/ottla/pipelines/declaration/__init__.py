"""What is declared: pipelines, the clusters they read, and the tables and topics they write.

    nodes      values with the file and line they come from     yaml_nodes  python_nodes
    keys       one declared key: name, type, default, explanation
    tree       the declaration as frozen dataclasses
    reading    nodes to the tree; every error with its line
    checking   what holds between several pipelines
    loading    a file, `.yaml` or `.py`, to a checked declaration
    reference  the table of all keys, for the documentation

YAML and Python go through the same nodes: neither can declare what the other cannot.
"""
