"""Classic groups: JoinGroup, SyncGroup, Heartbeat, LeaveGroup; the group leader assigns."""
