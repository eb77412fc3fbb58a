"""Group coordination: members, assignments and committed offsets, over `__consumer_offsets`."""
