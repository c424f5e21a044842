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


def mounts() -> list[str]:
    """Return the host's mounts, which a sandbox must leave alone."""
    return _content("/proc/self/mountinfo").splitlines()


def difference(mounts_before: Sequence[str], context: Context, workers: Sequence[int]) -> str:
    """Say what these workers left on the host, once what killed ones cannot clear away is swept.

    Other runs may come and go meanwhile: their groups and folders are no business of this one.
    """
    deadline = time.monotonic() + _GONE_WITHIN_S
    while True:
        cgroups.sweep()
        work_folder.sweep()
        left = [path for path in _ours() if any(f"-{pid}-" in path for pid in workers)]
        if not left or time.monotonic() > deadline:
            break
        time.sleep(0.05)  # a killed process leaves its group a moment after it is gone
    left += [mount for mount in mounts() if mount not in mounts_before]
    return ", ".join(left + [path for path in context.canaries if _content(path) != context.secret])


def _ours() -> list[str]:
    places = [*work_folder.PLACES, *(tree.folder for tree in cgroups.trees())]
    return [f"{place}/{name}" for place in places if os.path.isdir(place) for name in os.listdir(place)]


def _content(path: str) -> str:
    try:
        with open(path, encoding="utf-8") as stream:
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


def _own_namespaces(level: Isolation, without: frozenset[Layer], workers: list[int]) -> str:
    """Its user, mount, process, IPC, host name and network namespaces are not the host's."""
    worker, sample = _start_sleeper(level, without)
    workers.append(worker)
    try:
        own = {name: os.stat(f"/proc/self/ns/{name}").st_ino for name in _NAMESPACES}
        return ", ".join(n for n in _NAMESPACES if os.stat(f"/proc/{sample}/ns/{n}").st_ino == own[n])
    except OSError as error:
        return str(error)
    finally:
        _end_worker(worker)


def _dies_with_its_worker(level: Isolation, without: frozenset[Layer], workers: list[int]) -> str:
    """A sample whose worker is killed is gone within two seconds, whatever signals it blocks."""
    worker, sample = _start_sleeper(level, without)
    workers.append(worker)
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


# Each notes the workers that it forks, for ``difference`` to look after.
LOOKS: Mapping[str, Callable[[Isolation, frozenset[Layer], list[int]], str]] = {
    "own_namespaces": _own_namespaces,
    "dies_with_its_worker": _dies_with_its_worker,
}
