"""Verdict rows in, numbers with intervals out; and the command line."""
