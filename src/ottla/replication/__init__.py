"""Keeping copies in step: what this broker leads or follows, and who waits for it."""
