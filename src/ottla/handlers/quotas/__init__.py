"""Client quotas: which one applies, its usage, and throttle times."""
