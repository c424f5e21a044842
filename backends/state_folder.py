"""The environment goes in, the folder where batch runs keep their state comes out."""

from __future__ import annotations

import os
from pathlib import Path


def state_home() -> Path:
    """LM_EVAL_STRICT_HOME, else lm-eval-strict in the XDG state folder (``~/.local/state``)."""
    own = os.environ.get("LM_EVAL_STRICT_HOME")
    if own:
        return Path(own).expanduser()
    xdg = os.environ.get("XDG_STATE_HOME")
    base = Path(xdg).expanduser() if xdg else Path.home() / ".local" / "state"
    return base / "lm-eval-strict"


def runs_folder() -> Path:
    """The folder that holds one folder for each run of the batch backend, named by its run key."""
    return state_home() / "batches"
