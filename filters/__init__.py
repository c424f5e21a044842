"""Replies in, answers and verdicts out."""
