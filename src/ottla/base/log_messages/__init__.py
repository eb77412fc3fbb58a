"""Messages of the log of the process: escaped, bounded in length and in rate."""
