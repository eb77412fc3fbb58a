"""The control plane as a broker uses it: where its metadata is, and which controller decides about
it.

`embedded.py` is a broker without a cluster: a metadata log in its data directory, and the only
controller in its own process. `cluster.py` is a member of a cluster: the metadata log is in
ZooKeeper, and the controller is one of the brokers.
"""
