"""Other people's codecs beside ours: the same values must give the same bytes, both ways."""
