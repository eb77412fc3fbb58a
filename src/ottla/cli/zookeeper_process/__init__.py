"""Running a ZooKeeper server that is already on this machine."""
