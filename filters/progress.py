"""One progress bar per task on stderr, none where stderr is no terminal."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tqdm import tqdm


def progress_bar(total: int, what: str) -> tqdm[None]:
    """Return an open progress bar over ``total`` steps, labelled ``what``; use it as a context manager."""
    from tqdm import tqdm

    return tqdm(total=total, desc=what, disable=not sys.stderr.isatty(), file=sys.stderr, leave=False)
