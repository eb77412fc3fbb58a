"""Reading records for `ottla consume`."""
