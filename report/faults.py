"""What the command line raises at its user."""

from __future__ import annotations


class UsageFault(Exception):
    """The caller's fault, in one line: the thing, the value got and the values allowed. Exit status 2."""
