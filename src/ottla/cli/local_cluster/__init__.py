"""`ottla cluster`: a cluster on this machine, whose processes all belong to `ottla cluster up`."""
