"""The tests of what is written for people: pages, workflows, the container's recipe."""

from __future__ import annotations

import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
