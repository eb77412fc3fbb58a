"""What the cluster knows: a log of small facts, and the image that is their fold."""
