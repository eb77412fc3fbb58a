"""What a log remembers of its producers: a pure function of the records in it."""
