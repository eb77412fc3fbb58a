"""Files: the interfaces that all file access goes through, and the real disk."""
