"""Where the interpreter's files were and now are in, loaded modules that agree with the new place out."""

from __future__ import annotations

import contextlib
import os
import sys
from collections.abc import Sequence

from .file_view import Entry

_ENVIRONMENT = {"PATH": "/usr/bin", "HOME": "/tmp", "LANG": "C.UTF-8", "TZ": "UTC", "USER": "nobody"}


def fix_environment() -> None:
    """Replace the environment by the same few words for every sample on every machine."""
    os.environ.clear()
    os.environ.update(_ENVIRONMENT)


def move_modules(entries: Sequence[Entry]) -> None:
    """Make loaded modules and the import path name the new places, so that later imports find them."""
    search = [os.path.dirname(e.target) if e.target.endswith("/numpy") else e.target for e in entries]
    stdlib = entries[0].target
    sys.path[:] = list(dict.fromkeys([*search[:1], f"{stdlib}/lib-dynload", *search[1:]]))
    sys.path = [path for path in sys.path if not path.endswith("numpy.libs")]
    sys.path_importer_cache.clear()
    for name in ("prefix", "exec_prefix", "base_prefix", "base_exec_prefix"):
        setattr(sys, name, "/usr")
    sys.executable = sys._base_executable = ""  # type: ignore[attr-defined]
    sys.orig_argv = [""]
    for module in list(sys.modules.values()):
        _move_module(module, entries)


def _moved(path: object, entries: Sequence[Entry]) -> object:
    if isinstance(path, str):
        for entry in entries:
            if path.startswith(entry.source + "/"):
                return entry.target + path[len(entry.source) :]
            if path == entry.source:
                return entry.target
    return path


def _move_module(module: object, entries: Sequence[Entry]) -> None:
    for name in ("__file__", "__cached__"):
        with contextlib.suppress(AttributeError, TypeError):
            setattr(module, name, _moved(getattr(module, name), entries))
    spec = getattr(module, "__spec__", None)
    for holder, name in ((spec, "origin"), (spec, "cached"), (getattr(spec, "loader", None), "path")):
        with contextlib.suppress(AttributeError, TypeError):
            setattr(holder, name, _moved(getattr(holder, name), entries))
    for places in (getattr(module, "__path__", None), getattr(spec, "submodule_search_locations", None)):
        if isinstance(places, list):
            places[:] = [_moved(place, entries) for place in places]
