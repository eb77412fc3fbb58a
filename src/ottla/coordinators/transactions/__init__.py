"""Transactions: a state machine over `__transaction_state`, and transaction markers."""
