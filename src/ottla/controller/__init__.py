"""Who leads what, and everything else that the cluster must agree on: decided here, as records."""
