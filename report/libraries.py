"""The installed distributions that can move a number, with their versions."""

from __future__ import annotations

from importlib import metadata

NAMES = (
    "lm-eval-strict",
    "lm_eval",
    "math-verify",
    "latex2sympy2_extended",
    "sympy",
    "numpy",
    "torch",
    "transformers",
)


def installed_versions() -> dict[str, str]:
    """Give the installed version of each; those that are not installed are left out."""
    found = {}
    for name in NAMES:
        try:
            found[name] = metadata.version(name)
        except metadata.PackageNotFoundError:
            continue
    return found
