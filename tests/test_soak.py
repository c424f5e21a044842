"""The soak in its short form: nothing leaks, kills cost no verdict, busy processors move none."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[1] / "benchmarks" / "soak.py"


@pytest.mark.real_data
@pytest.mark.hostile
@pytest.mark.slow
def test_short_soak_holds(data_folder: Path, tmp_path: Path) -> None:
    out = tmp_path / "soak.json"
    subprocess.run(
        [sys.executable, str(SCRIPT), "--short", "--out", str(out)], capture_output=True, timeout=900
    )
    found = json.loads(out.read_text())
    assert [part for part in ("leaks", "kills", "verdicts") if not found[part]["ok"]] == [], found
