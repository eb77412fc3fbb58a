"""Records as commands handle them, and the formats in which they are printed and read."""
