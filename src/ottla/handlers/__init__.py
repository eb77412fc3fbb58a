"""Requests to a broker: each file here serves one API, and bears its name.

`serving/` takes any request from its frame to the frame of its response. The other folders hold
what several APIs share, or what one API needs beyond its file.
"""
