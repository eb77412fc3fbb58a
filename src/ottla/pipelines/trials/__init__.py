"""`ottla pipeline test`: compares the rows that given records produce with expected ones.

fixtures.py    the file beside the pipelines: what is produced, and what is expected
comparing.py   expected rows against found ones; pure
stage.py       the pipelines moved to another cluster and directory, records produced, rows read
run_once.py    one run in a process of its own, which can be killed
"""
