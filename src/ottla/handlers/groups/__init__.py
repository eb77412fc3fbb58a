"""What several requests to a group coordinator have in common."""
