"""The parts of a Fetch request, one idea a file; `handlers/fetch.py` puts them together."""
