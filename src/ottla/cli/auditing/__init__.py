"""What the commands of `ottla audit` share."""
