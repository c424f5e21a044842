"""What can be known of the container's recipe without building it."""

from __future__ import annotations

import re
import subprocess
from collections.abc import Iterator
from fnmatch import fnmatch
from importlib import metadata
from pathlib import Path

import pytest
from command_lines import ROOT
from packaging.requirements import Requirement
from packaging.utils import canonicalize_name

RECIPE = (ROOT / "Containerfile").read_text()
LOCKS = [ROOT / "container" / "build-tools.lock", ROOT / "container" / "requirements.lock"]


def instructions() -> Iterator[tuple[str, str]]:
    """Yield each instruction's word and the rest, with continued lines joined."""
    text = re.sub(r"^#.*\n", "", RECIPE, flags=re.MULTILINE).replace("\\\n", " ")
    for line in filter(None, text.split("\n")):
        word, _, rest = line.partition(" ")
        yield word, rest


def pins(lock: str) -> dict[str, tuple[str, list[str]]]:
    """Map each package of a lock to its version and hashes."""
    found = re.findall(r"^([\w.-]+)==(\S+)((?: \\\n\s+--hash=\S+)*)$", lock, flags=re.MULTILINE)
    return {
        canonicalize_name(name): (version, re.findall(r"--hash=(\S+)", rest)) for name, version, rest in found
    }


def constraints() -> dict[str, str]:
    lines = [line.split(";")[0].strip() for line in (ROOT / "constraints.txt").read_text().split("\n")]
    return {canonicalize_name(line.split("==")[0]): line.split("==")[1] for line in lines if "==" in line}


def test_the_base_image_is_pinned_by_digest() -> None:
    bases = [rest for word, rest in instructions() if word == "FROM"]
    assert len(bases) == 1 and re.fullmatch(r"python:3\.11-[\w-]+@sha256:[0-9a-f]{64}", bases[0])


def test_each_shell_line_is_valid() -> None:
    for word, rest in instructions():
        if word == "RUN":
            subprocess.run(["sh", "-n"], input=rest, text=True, check=True)


def test_everything_copied_is_here_and_reaches_the_builder() -> None:
    ignore = [line for line in (ROOT / ".dockerignore").read_text().split("\n") if line.startswith("!")]
    sources = [source for word, rest in instructions() if word == "COPY" for source in rest.split()[:-1]]
    assert len(sources) == 10
    for source in sources:
        assert (ROOT / source).exists(), source
        assert any(fnmatch(source, line[1:]) for line in ignore), f"{source} is ignored by .dockerignore"


def test_programs_are_run_by_an_ordinary_user() -> None:
    assert [rest for word, rest in instructions() if word == "USER"] == ["evaluator"]
    assert [word for word, _ in instructions()].index("USER") > max(
        place for place, (word, _) in enumerate(instructions()) if word == "RUN"
    )


@pytest.mark.parametrize("path", LOCKS, ids=lambda path: path.stem)
def test_each_package_of_a_lock_has_hashes_and_nothing_else_is_in_it(path: Path) -> None:
    text = path.read_text()
    found = pins(text)
    assert found and all(hashes for _, hashes in found.values())
    assert all(re.fullmatch(r"sha256:[0-9a-f]{64}", each) for _, hashes in found.values() for each in hashes)
    assert sum("==" in line for line in text.split("\n")) == len(found)


def test_the_lock_has_the_versions_that_ci_uses() -> None:
    known = constraints()
    found = pins(LOCKS[1].read_text())
    assert {
        name: version for name, (version, _) in found.items() if known.get(name, version) != version
    } == {}


def test_the_lock_holds_each_dependency_at_a_version_that_it_allows() -> None:
    found = {name: version for lock in LOCKS for name, (version, _) in pins(lock.read_text()).items()}
    for line in metadata.requires("lm-eval-strict") or []:
        wanted = Requirement(line)
        extras = [{"extra": extra} for extra in ("", "hf", "api")]
        if wanted.marker and not any(wanted.marker.evaluate(extra) for extra in extras):
            continue
        assert wanted.specifier.contains(found[canonicalize_name(wanted.name)]), line
