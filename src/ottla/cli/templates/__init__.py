"""Templates such as `%k\\t%v\\n`, with which records are printed and read."""
