"""The asked isolation in, a cell that runs programs behind it out.

Theory of operation
-------------------
*Who.* Each worker has two warm parents: single-threaded Pythons, one with numpy imported, holding no
test, no key and no descriptor of the host but those they need. Each calls ``open_cell`` once and is
locked in for good. For each sample it then calls ``fork_sample``: one more fork, one more set of walls,
the program, the end.

*Parent's walls* (level ``full``). It leaves the host's user, mount, IPC, host name and network
namespaces; makes a read-only root folder out of a list (``file_view``) and gives up the old one;
replaces its environment; enters a control group where one may be made; forbids new privileges; empties
the capability bounding set. It keeps capabilities in its own user namespace, to mount and to kill, and
none on the host.

*Sample's walls*, in this order, for each takes a right that an earlier one needed: an empty working
folder, a small file system in memory, mounted by the parent and used again only if its last user left
it untouched; born as process 1 of a new PID namespace; rlimits; another user where the parent is root;
death with the parent; no capabilities; Landlock; all descriptors closed but the named two and the
streams that lead nowhere; seccomp. What does not vary is set on the parent once, and every call is made
ready before the fork. A step that fails is written into a page that parent and sample share, and that
the sample lets go of before the program's first instruction; then nothing of the program runs. There is
no weaker way on.

*Why it is one process.* seccomp allows threads and refuses processes. RLIMIT_AS and RLIMIT_CPU, which
the kernel counts per process, so bind the whole sample without a control group, and killing one pid
kills all.

*Level* ``reduced`` is for machines that refuse namespaces and mounts (a stock container): Landlock
decides which paths can be read, a folder of the host is emptied after each sample and its size
patrolled, root's samples become a user of their own, and seccomp, besides what it does anyway, refuses
signals to others and changes of a file's mode, owner or times. ``none`` closes descriptors and sets
rlimits. ``layers.guarantees`` says in words what each level promises, and ``conformance`` tries to
break it.

*What is trusted.* The kernel, this package, the parent. A sample never talks to the parent: its two
pipes lead to the examiner, which reads them as bytes that an enemy wrote. What is not stopped: a bug in
the kernel's system calls that Python needs; timing and cache side channels between samples of one
machine; learning what the CPU, the kernel version and the total memory are.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Iterable
from dataclasses import replace

from . import (
    cgroups,
    file_view,
    landlock,
    lock_in,
    namespaces,
    neutral_paths,
    privileges,
    reduced_view,
    rlimits,
    seccomp,
    syscalls,
    work_folder,
)
from .cell import Cell, SampleEnd
from .errors import SandboxUnavailable
from .layers import Layer, guarantees
from .probing import Capabilities, probe
from .records import Isolation, Limits
from .remedies import Remedy, remedies

__all__ = [
    "Capabilities",
    "Cell",
    "Layer",
    "Remedy",
    "SampleEnd",
    "guarantees",
    "open_cell",
    "probe",
    "remedies",
    "sweep",
]


def open_cell(level: Isolation, limits: Limits, *, without: Iterable[Layer] = ()) -> Cell:
    """Lock this process in as far as ``level`` says, for good, and return the cell for its samples.

    The caller has one thread, has imported what samples shall find warm, and shares no secret with them.
    ``without`` leaves layers out, to show in a test what each of them holds back. Raises
    SandboxUnavailable naming the step that this machine refuses; never goes on at a weaker level.
    """
    absent = frozenset(without)
    if not sys.platform.startswith("linux"):
        raise SandboxUnavailable(f"isolation={level.value} needs Linux, this is {sys.platform}")
    try:
        null = os.open("/dev/null", os.O_RDWR | os.O_CLOEXEC)
        statm = os.open("/proc/self/statm", os.O_RDONLY | os.O_CLOEXEC)
        walls = lock_in.Walls(level, absent, limits, null, statm)
        if level is Isolation.NONE:
            return _open_without_walls(walls)
        file_view.shared_objects()
        group = None if Layer.CGROUP in absent else cgroups.join(limits)
        if Layer.ENVIRONMENT not in absent:
            neutral_paths.fix_environment()
        enter = _enter_full if level is Isolation.FULL else _enter_reduced
        walls, work = enter(walls)
        privileges.close_ways_up(absent)
    except (OSError, ValueError, KeyError) as error:
        raise SandboxUnavailable(f"isolation={level.value}: {error}") from error
    if Layer.SECCOMP not in absent:
        code = seccomp.build(syscalls.machine(), file_attributes=level is Isolation.FULL)
        walls = replace(walls, filter=code)
    return Cell(walls, work, group)


def _open_without_walls(walls: lock_in.Walls) -> Cell:
    if walls.has(Layer.RLIMITS):
        rlimits.set_inherited(walls.opened, None)
    return Cell(walls, None, None)


def _enter_full(walls: lock_in.Walls) -> tuple[lock_in.Walls, work_folder.MountedFolder | None]:
    user = namespaces.enter(walls.without)
    privileges.leave_groups()
    if walls.has(Layer.FILE_VIEW):
        neutral_paths.move_modules(file_view.enter())
    rules = None
    if landlock.version() and walls.has(Layer.LANDLOCK):
        rules = landlock.rule_set(["/"], ["/var", "/dev/null"])
    if walls.has(Layer.RLIMITS):
        rlimits.set_inherited(walls.opened, 0 if user is not None else 1)
    work = work_folder.MountedFolder(file_view.WORK) if walls.has(Layer.WORK_FOLDER) else None
    return replace(walls, user=user, rules=rules), work


def _enter_reduced(walls: lock_in.Walls) -> tuple[lock_in.Walls, work_folder.PatrolledFolder | None]:
    if not landlock.version():
        raise OSError(38, "landlock: this kernel does not offer it, and nothing else keeps files apart")
    user = reduced_view.sample_user()
    privileges.leave_groups()
    folder = work_folder.make(user.file_uid if user else None)
    rules = None
    if walls.has(Layer.LANDLOCK):
        rules = landlock.rule_set(reduced_view.readable_paths(), [folder, "/dev/null"])
    reduced_view.remember_listings()
    if walls.has(Layer.RLIMITS):
        # An ordinary user's tasks are counted on the whole machine: what runs now is let be.
        rlimits.set_inherited(walls.opened, 0 if user is not None else rlimits.tasks_of_this_user())
    os.chdir("/")
    work = work_folder.PatrolledFolder(folder) if walls.has(Layer.WORK_FOLDER) else None
    return replace(walls, user=user, rules=rules), work


def sweep(wait_s: float = 0.0) -> None:
    """Remove what workers that were killed have left: empty control groups and work folders.

    Call it at the start and at the end of the process that forks workers; at the end give the kernel
    ``wait_s`` seconds to bury what was just killed.
    """
    if not sys.platform.startswith("linux"):
        return
    deadline = time.monotonic() + wait_s
    work_folder.sweep()
    while cgroups.sweep() and time.monotonic() < deadline:
        time.sleep(0.02)
