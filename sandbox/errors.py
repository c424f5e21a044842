"""What the sandbox raises at its caller.

Exception
└── SandboxUnavailable   the asked isolation cannot be had on this machine; never about a program
"""

from __future__ import annotations


class SandboxUnavailable(Exception):
    """Say in one line why the asked isolation cannot be had, and what would give it."""

    def __init__(self, reason: str, remedy: str = "") -> None:
        super().__init__(reason if not remedy else f"{reason}; {remedy}")
        self.reason = reason
        self.remedy = remedy
