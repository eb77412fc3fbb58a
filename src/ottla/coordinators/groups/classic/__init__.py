"""Classic groups: JoinGroup, SyncGroup, Heartbeat, LeaveGroup; the leader assigns."""
