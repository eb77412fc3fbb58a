"""The state that a log keeps of its producers: a pure function of the records in it."""
