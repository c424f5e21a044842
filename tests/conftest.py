"""Where the tests find the published data, and a loud skip where they do not."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

os.environ.setdefault("HF_HUB_OFFLINE", "1")


@pytest.fixture(scope="session")
def data_folder() -> Path:
    """The folder of published data sets that LM_EVAL_STRICT_DATA names."""
    folder = os.environ.get("LM_EVAL_STRICT_DATA")
    if not folder:
        pytest.skip("LM_EVAL_STRICT_DATA is not set: the published data sets are missing")
    if not Path(folder).is_dir():
        raise FileNotFoundError(f"LM_EVAL_STRICT_DATA={folder!r} is not a folder")
    return Path(folder)


@pytest.fixture(scope="session")
def replies_folder(data_folder: Path) -> Path:
    """The folder ``replies`` in or beside the data folder: real replies of real models."""
    for candidate in (data_folder / "replies", data_folder.parent / "replies"):
        if candidate.is_dir():
            return candidate
    pytest.skip(f"no folder 'replies' in or beside LM_EVAL_STRICT_DATA={data_folder}")


@pytest.fixture(autouse=True)
def state_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A state folder of the test's own, so that no test writes into the user's."""
    folder = tmp_path / "state"
    monkeypatch.setenv("LM_EVAL_STRICT_HOME", str(folder))
    return folder
