"""Programs that nobody trusts in, what they returned out. Standard library only."""
