"""The reason that stops a run goes in, an exception that a command shows without a traceback comes out."""

from __future__ import annotations


class BackendFault(Exception):
    """Something the user has to change or decide; its text is one complete line."""


class DryRunFinished(SystemExit):
    """A dry run has printed its estimate and ends the process with status 0, nothing sent."""

    def __init__(self, estimate: str) -> None:
        super().__init__(0)
        self.estimate = estimate
