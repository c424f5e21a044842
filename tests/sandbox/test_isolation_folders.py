"""Work folders and control groups: what is made, measured, swept, and left alone."""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from lm_eval_strict.sandbox import cgroups, work_folder
from lm_eval_strict.sandbox.records import Limits

needs_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")


@needs_linux
def test_a_work_folder_is_emptied_whatever_is_in_it() -> None:
    tmp_path = Path(
        tempfile.mkdtemp(dir=next(place for place in work_folder.PLACES if os.access(place, os.W_OK)))
    )
    outside = tmp_path / "outside"
    outside.mkdir()
    (outside / "kept").write_text("x")
    folder = tmp_path / "work"
    folder.mkdir()
    start = os.getcwd()
    os.chdir(folder)
    try:
        for _ in range(3000):
            os.mkdir("d")
            os.chdir("d")
    finally:
        os.chdir(start)
    (folder / "link").symlink_to(outside)
    (folder / "loop").symlink_to("loop")
    os.mkfifo(folder / "fifo")
    (folder / "odd \n\udcff name").write_text("x")
    closed = folder / "closed"
    (closed / "inner").mkdir(parents=True)
    closed.chmod(0)
    work_folder.empty(str(folder))
    assert os.listdir(folder) == []
    assert (outside / "kept").read_text() == "x"
    shutil.rmtree(tmp_path)


@needs_linux
def test_a_folder_of_a_killed_worker_is_swept_and_one_in_use_is_not() -> None:
    code = "import sys; from lm_eval_strict.sandbox import work_folder\n"
    code += "print(work_folder.make(None), flush=True); sys.stdin.read()"
    with subprocess.Popen(
        [sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as worker:
        assert worker.stdout is not None
        folder = Path(worker.stdout.readline().strip())
        work_folder.sweep()
        assert folder.is_dir()
        worker.send_signal(signal.SIGKILL)
        worker.wait()
    work_folder.sweep()
    assert not folder.parent.exists()


V2_GROUP = {
    "cgroup.controllers": "cpu memory pids",
    "cgroup.subtree_control": "memory pids",
    "cgroup.procs": "",
}


@needs_linux
def test_a_delegated_group_of_version_2_is_used_with_all_its_limits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in V2_GROUP.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(cgroups, "_mounts", lambda: iter([("cgroup2", ["rw"], str(tmp_path))]))
    monkeypatch.setattr(cgroups, "_own_groups", lambda: {"": "/"})
    real_mkdir = os.mkdir

    def mkdir(path: str, mode: int = 0o777, *, dir_fd: int | None = None) -> None:
        real_mkdir(path, mode, dir_fd=dir_fd)
        for name in ("memory.max", "memory.swap.max", "pids.max", "cgroup.procs", "memory.events"):
            (tmp_path / path / name).write_text("oom_kill 3" if name == "memory.events" else "")

    monkeypatch.setattr(os, "mkdir", mkdir)
    assert [(tree.kind, tree.version) for tree in cgroups.trees()] == [("memory", 2)]
    group = cgroups.join(Limits(memory_mib=512, file_mib=16, tasks=64))
    assert group is not None
    made = tmp_path / group.name
    assert int((made / "memory.max").read_text()) >= (512 + 16) << 20
    assert (made / "memory.swap.max").read_text() == "0"
    assert int((made / "pids.max").read_text()) >= 64
    assert (made / "cgroup.procs").read_text() == str(os.getpid())
    assert group.out_of_memory_kills() == 3
    group.leave()


@needs_linux
@pytest.mark.parametrize(
    ("sessions", "ours"),
    [
        ({0: 7, 1: 7}, True),  # all of one session: a container whose first process started us
        ({0: 7, 1: 1}, False),
        ({0: 0, 1: 0}, False),  # both led from outside this PID namespace: not known to be one
    ],
)
def test_a_group_of_version_2_is_divided_only_where_all_that_is_in_it_is_of_our_session(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sessions: dict[int, int], ours: bool
) -> None:
    for name, text in {**V2_GROUP, "cgroup.subtree_control": "", "cgroup.procs": "1\n"}.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(cgroups, "_mounts", lambda: iter([("cgroup2", ["rw"], str(tmp_path))]))
    monkeypatch.setattr(cgroups, "_own_groups", lambda: {"": "/"})
    monkeypatch.setattr(os, "getsid", sessions.__getitem__)
    assert [tree.version for tree in cgroups.trees()] == [2] * ours


@needs_linux
def test_a_read_only_tree_gives_no_group(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cgroups, "_mounts", lambda: iter([("cgroup", ["memory"], str(tmp_path / "none"))]))
    assert cgroups.trees() == []
    assert cgroups.join(Limits()) is None


@needs_linux
def test_a_group_that_systemd_delegated_is_divided_with_all_that_is_in_it(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, text in {**V2_GROUP, "cgroup.subtree_control": "", "cgroup.procs": "1\n"}.items():
        (tmp_path / name).write_text(text)
    marks = {"user.delegate": b"1"}
    monkeypatch.setattr(os, "getxattr", lambda path, name: marks[name])
    monkeypatch.setattr(cgroups, "_mounts", lambda: iter([("cgroup2", ["rw"], str(tmp_path))]))
    monkeypatch.setattr(cgroups, "_own_groups", lambda: {"": "/"})
    assert [(tree.folder, tree.version) for tree in cgroups.trees()] == [(str(tmp_path), 2)]
    cgroups._make_room(str(tmp_path))
    assert (tmp_path / "lm-eval-strict-tree" / "cgroup.procs").read_text() == "1"
    assert (tmp_path / "cgroup.subtree_control").read_text() == "+memory +pids"
