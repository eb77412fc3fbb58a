"""The parts of a Produce request, one idea a file; `handlers/produce.py` puts them together."""
