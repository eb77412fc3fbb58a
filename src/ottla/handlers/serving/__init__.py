"""From the frame of a request to that of its response, for any API: nothing here knows one API."""
