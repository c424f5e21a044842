"""A function's name and a JSON value in, what it returns in a new, clean interpreter out."""

from __future__ import annotations

import os
import sys

PACKAGE = __name__.rpartition(".")[0]
BOOT = """
import importlib, json, sys, types
package, folder, path, module, function, value = json.loads(sys.argv[1])
sys.path[:] = path
parent = package.rpartition(".")[0]
for name, places in ((parent, []), (package, [folder])):
    if name:
        sys.modules[name] = types.ModuleType(name)
        sys.modules[name].__path__ = places
answer = getattr(importlib.import_module(package + "." + module), function)(value)
sys.stdout.write(json.dumps(answer))
"""
ENVIRONMENT = {"LANG": "C.UTF-8", "OPENBLAS_NUM_THREADS": "1", "MALLOC_ARENA_MAX": "1"}


def call(module: str, function: str, value: object, *, wall_s: float) -> object:
    """Call ``function(value)`` of one of this package's modules in a new process and return its answer.

    The caller never forks: it may hold threads or a GPU. Raises OSError, with the last line that the
    process wrote, when it gives no answer in ``wall_s`` seconds.
    """
    import json  # here, not above: a worker imports this module's neighbours and stays small
    import subprocess

    data = json.dumps([PACKAGE, os.path.dirname(__file__), sys.path, module, function, value])
    try:
        done = subprocess.run(
            [sys.executable, "-I", "-S", "-c", BOOT, data],
            env=ENVIRONMENT,
            cwd="/",
            stdin=subprocess.DEVNULL,
            capture_output=True,
            start_new_session=True,
            timeout=wall_s,
            check=False,
        )
        return json.loads(done.stdout)
    except subprocess.TimeoutExpired:
        raise TimeoutError(f"{module}.{function}: no answer in {wall_s:g} s") from None
    except ValueError:
        last = done.stderr.decode("utf-8", "replace").strip().rpartition("\n")[2]
        raise OSError(f"{module}.{function}: {last or f'ended with {done.returncode}'}") from None
