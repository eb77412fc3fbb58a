"""Moving all replicas away from one broker: `ottla cluster decommission`."""
