"""The metadata log of a cluster, kept in ZooKeeper."""
