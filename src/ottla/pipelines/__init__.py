"""Data pipelines on Spark: declared, run, and proved by the completeness audit."""
