"""What several administrative requests have in common."""
