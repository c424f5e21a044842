"""The import rule, the layout of the wheel, and that importing does no work."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
FOLDERS = ("tasks", "filters", "sandbox", "backends", "report")
ALLOWED = {
    "tasks": set(),
    "sandbox": set(),
    "backends": set(),
    "filters": {"sandbox", "tasks"},
    "report": {"filters.rows"},
}


def imports_of_ours(path: Path) -> set[str]:
    """Return the modules of other folders of ours that a file imports, as ``folder.module``."""
    found = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and not node.level:
            names = [f"{node.module}.{alias.name}" for alias in node.names]
        else:
            continue
        found |= {
            name.removeprefix("lm_eval_strict.") for name in names if name.startswith("lm_eval_strict.")
        }
    return {name for name in found if name.split(".")[0] != path.parent.name}


@pytest.mark.parametrize("folder", FOLDERS)
def test_import_rule_holds(folder: str) -> None:
    broken = []
    for path in (ROOT / folder).glob("*.py"):
        if folder == "report" and path.name.startswith("cli"):
            continue  # the command line is the front door: it may import everything
        for name in imports_of_ours(path):
            first, _, rest = name.partition(".")
            if first not in ALLOWED[folder] and f"{first}.{rest.split('.')[0]}" not in ALLOWED[folder]:
                broken.append(f"{path.name} imports {name}")
    assert not broken


def test_sandbox_imports_the_standard_library_only() -> None:
    allowed = sys.stdlib_module_names | {"numpy"}
    for path in (ROOT / "sandbox").glob("*.py"):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.Import):
                names = [alias.name for alias in node.names]
            elif isinstance(node, ast.ImportFrom) and not node.level:
                names = [node.module or ""]
            else:
                continue
            foreign = {name.split(".")[0] for name in names} - allowed
            assert not foreign, f"{path.name} imports {foreign}"


def test_importing_everything_does_no_work(tmp_path: Path) -> None:
    """A fresh process imports every module: no output, no warning, no thread, no child, no registration."""
    modules = [
        f"lm_eval_strict.{folder}.{path.stem}"
        for folder in FOLDERS
        for path in (ROOT / folder).glob("*.py")
        if path.stem != "__init__"
    ]
    program = f"""
import importlib, sys, threading
done = []
def watch(event, args):
    if event == "open" and isinstance(args[1], str) and set(args[1]) & set("wax+"):
        done.append((event, args))
    if event in ("socket.connect", "subprocess.Popen", "os.fork", "os.posix_spawn"):
        done.append((event, args))
sys.addaudithook(watch)
for name in {modules!r}:
    importlib.import_module(name)
assert threading.active_count() == 1, threading.enumerate()
assert not done, done
"""
    ran = subprocess.run(
        [sys.executable, "-B", "-W", "error", "-c", program],
        capture_output=True,
        text=True,
        cwd=tmp_path,
        timeout=300,
    )
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


@pytest.mark.parametrize("folder", FOLDERS)
def test_folders_are_flat(folder: str) -> None:
    inside = [path.name for path in (ROOT / folder).iterdir() if path.is_dir() and path.name != "__pycache__"]
    assert not inside
