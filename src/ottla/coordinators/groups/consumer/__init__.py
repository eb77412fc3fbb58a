"""Consumer groups (KIP-848): ConsumerGroupHeartbeat; the coordinator assigns."""
