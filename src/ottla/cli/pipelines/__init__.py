"""What the commands of `ottla pipeline` share."""
