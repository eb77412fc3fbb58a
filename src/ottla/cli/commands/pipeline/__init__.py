"""`ottla pipeline`: data pipelines on Spark, declared in a file."""
