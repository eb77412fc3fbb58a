"""Groups and transactions: state machines over internal topics."""
