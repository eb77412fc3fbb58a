"""Transactions: a state machine over `__transaction_state`, and what it asks of other leaders."""
