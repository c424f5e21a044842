"""How the broker's interpreter is started: the command, its fixed environment and its import path, all as
data.
"""

from __future__ import annotations

import importlib.util
import marshal
import os
import subprocess
import sys

PACKAGES = ("sandbox", "filters", "report", "backends", "tasks")

# Runs before anything of ours can be imported. sys.path comes as data: no site, no .pth file, no PYTHONPATH.
# The five packages are found by folder: an editable install maps them through a hook that only `site` loads.
BOOT = """
import sys
sys.path[:] = [entry for entry in sys.path if entry]
import importlib.util, marshal, types
boot = marshal.loads(bytes.fromhex(sys.argv[1]))
sys.path += boot["path"]
space = types.ModuleType("lm_eval_strict"); space.__path__ = []; sys.modules["lm_eval_strict"] = space
class Finder:
    @staticmethod
    def find_spec(name, path=None, target=None):
        folder = boot["folders"].get(name)
        if folder:
            start = folder + "/__init__.py"
            return importlib.util.spec_from_file_location(name, start, submodule_search_locations=[folder])
sys.meta_path.insert(0, Finder())
from lm_eval_strict.sandbox.broker import main
main()
"""

ENVIRONMENT = {
    # Equal runs give equal rows: the order of a set of texts must not differ. (-I would ignore this variable,
    # so its parts are had one by one: -s, an environment of our own, a path without the current folder.)
    "PYTHONHASHSEED": "0",
    # One thread: a process with threads must not fork.
    "OPENBLAS_NUM_THREADS": "1",
    "OMP_NUM_THREADS": "1",
    "MKL_NUM_THREADS": "1",
    "LD_BIND_NOW": "1",
    "LANG": "C.UTF-8",
    "PATH": "/usr/bin:/bin",
}


def package_folders() -> dict[str, str]:
    """Give the folder of each of our packages that is installed, by its full name."""
    folders = {}
    for name in PACKAGES:
        spec = importlib.util.find_spec(f"lm_eval_strict.{name}")
        if spec is not None and spec.submodule_search_locations:
            folders[f"lm_eval_strict.{name}"] = next(iter(spec.submodule_search_locations))
    return folders


def start_broker() -> subprocess.Popen[bytes]:
    """Start a broker process; it ends when its standard input ends."""
    path = [os.path.abspath(entry) for entry in sys.path]
    boot = marshal.dumps({"path": path, "folders": package_folders()}).hex()
    return subprocess.Popen(
        [sys.executable, "-S", "-s", "-c", BOOT, boot],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        env=ENVIRONMENT,
        cwd="/",
        start_new_session=True,
        close_fds=True,
        bufsize=0,
    )
