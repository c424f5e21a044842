"""What can be seen of a sandbox from outside: canaries laid out, a sample watched, the host compared."""

from __future__ import annotations

import os
import signal
import time
from collections.abc import Callable, Mapping, Sequence

from . import cgroups, work_folder
from .conformance_probe import Context
from .isolation import open_cell
from .layers import Layer
from .records import Isolation, Limits

_GONE_WITHIN_S = 2.0
_NAMESPACES = ("user", "mnt", "pid", "ipc", "uts", "net")


def canary_places() -> list[str]:
    """List the folders of this user, and those shared with others, that can be written."""
    import pwd

    try:
        home = pwd.getpwuid(os.geteuid()).pw_dir
    except KeyError:  # a container may run as a user that has no account
        home = "/nonexistent"
    wanted = [home, os.path.join(home, ".cache"), "/tmp", "/var/tmp", "/dev/shm"]
    return [place for place in wanted if os.access(place, os.W_OK)]


def lay_canaries(level: Isolation, folders: Sequence[str]) -> Context:
    """Put a file with a secret into each folder, hold one open, and put the secret into the environment."""
    secret = os.urandom(12).hex()
    paths = [f"{folder}/canary" for folder in folders]
    for folder, path in zip(folders, paths, strict=True):
        os.chmod(folder, 0o777)
        with open(path, "w", encoding="ascii") as stream:
            stream.write(secret)
        os.chmod(path, 0o666)
    opened = os.open(paths[0], os.O_RDWR)
    os.set_inheritable(opened, True)
    os.environ["CONFORMANCE_SECRET"] = secret
    return Context(level, secret, tuple(paths), opened)


def host_state() -> dict[str, list[str]]:
    """Return what a sandbox must leave alone: mounts and control groups."""
    with open("/proc/self/mountinfo", encoding="utf-8") as stream:
        mounts = sorted(stream)
    groups = [f"{tree.folder}/{name}" for tree in cgroups.trees() for name in os.listdir(tree.folder)]
    abandoned = [group for group in groups if os.path.isdir(group) and not _content(f"{group}/cgroup.procs")]
    return {"mounts": mounts, "groups": abandoned}


def difference(before: Mapping[str, list[str]], context: Context) -> str:
    """Say what is on the host that was not there before, once what killed workers left is swept."""
    deadline = time.monotonic() + _GONE_WITHIN_S
    while True:
        cgroups.sweep()
        work_folder.sweep()
        after = host_state()
        found = [item for name in before for item in after[name] if item not in before[name]]
        if not found or time.monotonic() > deadline:
            break
        time.sleep(0.05)  # a killed process leaves its group a moment after it is gone
    return ", ".join(found + [path for path in context.canaries if _content(path) != context.secret])


def _content(path: str) -> str:
    try:
        with open(path, encoding="ascii") as stream:
            return stream.read()
    except OSError:
        return ""


def _sleep_for_ever() -> None:
    signal.pthread_sigmask(signal.SIG_BLOCK, range(1, 65))
    while True:
        time.sleep(60)


def _start_sleeper(level: Isolation, without: frozenset[Layer]) -> tuple[int, int]:
    """Fork a worker with one sample that sleeps; return both pids as the host sees them."""
    reader, writer = os.pipe()
    worker = os.fork()
    if worker == 0:
        try:
            cell = open_cell(level, Limits(), without=without)
            pid = cell.fork_sample(_sleep_for_ever, keep_fds=(), limits=Limits())
            time.sleep(0.1)  # until the sample has gone through its walls
            os.write(writer, str(pid).encode())
            time.sleep(60)
        finally:
            os._exit(0)
    os.close(writer)
    said = os.read(reader, 32)
    os.close(reader)
    return worker, int(said or b"0")


def _end_worker(worker: int) -> None:
    os.kill(worker, signal.SIGKILL)
    os.waitpid(worker, 0)


def _own_namespaces(level: Isolation, without: frozenset[Layer]) -> str:
    """Its user, mount, process, IPC, host name and network namespaces are not the host's."""
    worker, sample = _start_sleeper(level, without)
    try:
        own = {name: os.stat(f"/proc/self/ns/{name}").st_ino for name in _NAMESPACES}
        return ", ".join(n for n in _NAMESPACES if os.stat(f"/proc/{sample}/ns/{n}").st_ino == own[n])
    except OSError as error:
        return str(error)
    finally:
        _end_worker(worker)


def _dies_with_its_worker(level: Isolation, without: frozenset[Layer]) -> str:
    """A sample whose worker is killed is gone within two seconds, whatever signals it blocks."""
    worker, sample = _start_sleeper(level, without)
    _end_worker(worker)
    if not sample:
        return "the sample did not start"
    deadline = time.monotonic() + _GONE_WITHIN_S
    while time.monotonic() < deadline:
        if not _is_alive(sample):
            return ""
        time.sleep(0.02)
    os.kill(sample, signal.SIGKILL)
    return "it still ran"


def _is_alive(pid: int) -> bool:
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii") as stream:
            return stream.read().rpartition(")")[2].split()[0] not in "ZX"
    except OSError:
        return False


LOOKS: Mapping[str, Callable[[Isolation, frozenset[Layer]], str]] = {
    "own_namespaces": _own_namespaces,
    "dies_with_its_worker": _dies_with_its_worker,
}
