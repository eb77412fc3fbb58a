"""Writing records for `ottla produce`."""
