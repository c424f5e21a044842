"""A cell's own manners: what it reports of a sample's end, what it keeps and kills, what it leaves behind."""

from __future__ import annotations

import json
import subprocess
import sys

import pytest

from lm_eval_strict.sandbox.isolation import probe

needs_linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="the sandbox needs Linux")
LEVELS = ["full", "reduced", "none"]
# Runs in an interpreter of its own: a cell locks its process in for good.
SCRIPT = """
import atexit, json, os, signal, sys, threading, time
from lm_eval_strict.sandbox.isolation import open_cell
from lm_eval_strict.sandbox.records import Isolation, Limits
cell = open_cell(Isolation(LEVEL), Limits())
def end_of(run, wall_s=30.0, limits=Limits(), keep=()):
    return cell.wait(cell.fork_sample(run, keep_fds=keep, limits=limits), wall_s)
def show(**values):
    sys.stdout.write(json.dumps(values))
atexit.register(cell.close)
"""


def _in_cell(level: str, body: str) -> dict[str, object]:
    if level != "none" and level in probe().faults:
        pytest.skip(f"this machine does not give {level}: {probe().faults[level]}")
    code = SCRIPT.replace("LEVEL", repr(level)) + body
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, timeout=60, check=False)
    assert done.returncode == 0, done.stderr.decode()
    answer = json.loads(done.stdout)
    assert isinstance(answer, dict)
    return answer


@needs_linux
@pytest.mark.parametrize("level", LEVELS)
def test_the_exit_status_says_how_the_function_ended(level: str) -> None:
    body = """
def raises(): raise ValueError("no")
ends = [end_of(lambda: 7), end_of(raises), end_of(lambda: os._exit(42)), end_of(lambda: sys.exit(3))]
show(statuses=[end.exit_status for end in ends], signals=[end.signal for end in ends])
"""
    assert _in_cell(level, body) == {"statuses": [0, 1, 42, 1], "signals": [None] * 4}


@needs_linux
@pytest.mark.parametrize("level", LEVELS)
def test_kept_descriptors_carry_what_the_sample_writes(level: str) -> None:
    body = """
r, w = os.pipe()
end_of(lambda: os.write(w, b"value"), keep=[w])
os.close(w)
show(read=os.read(r, 99).decode(), end=os.read(r, 99).decode())
"""
    assert _in_cell(level, body) == {"read": "value", "end": ""}


@needs_linux
@pytest.mark.parametrize("level", LEVELS)
def test_a_sleeper_is_ended_at_the_wall_limit_and_a_killed_one_at_once(level: str) -> None:
    body = """
late = end_of(lambda: time.sleep(60), wall_s=0.2)
pid = cell.fork_sample(lambda: time.sleep(60), keep_fds=(), limits=Limits())
cell.kill(pid)
started = time.monotonic()
killed = cell.wait(pid, 30.0)
show(late=[late.signal, late.hit_wall_limit], killed=[killed.signal, killed.hit_wall_limit],
     waited=time.monotonic() - started > 20)
"""
    assert _in_cell(level, body) == {"late": [9, True], "killed": [9, False], "waited": False}


@needs_linux
@pytest.mark.parametrize("level", ["full", "reduced"])
def test_the_cpu_limit_is_told_from_the_wall_limit(level: str) -> None:
    body = """
def spin():
    while True: pass
end = end_of(spin, limits=Limits(cpu_s=1.0))
show(signal=end.signal, cpu=end.hit_cpu_limit, wall=end.hit_wall_limit, memory=end.hit_memory_limit)
"""
    assert _in_cell(level, body) == {"signal": 9, "cpu": True, "wall": False, "memory": False}


@needs_linux
@pytest.mark.parametrize("level", ["full", "reduced"])
def test_memory_past_the_limit_is_a_memory_error_inside(level: str) -> None:
    body = """
def hog():
    try:
        bytearray(Limits().memory_mib << 20)
    except MemoryError:
        os._exit(11)
def modest():
    bytearray(Limits().memory_mib * 3 // 4 << 20)
show(hog=end_of(hog).exit_status, modest=end_of(modest).exit_status)
"""
    assert _in_cell(level, body) == {"hog": 11, "modest": 0}


@needs_linux
@pytest.mark.parametrize("level", ["full", "reduced"])
def test_nothing_of_the_program_runs_when_a_wall_cannot_be_set_up(level: str) -> None:
    body = """
from lm_eval_strict.sandbox import lock_in
prepare = lock_in.LockIn.prepare
def refuse(): raise OSError(22, "no filter here")
lock_in.LockIn.prepare = lambda self, *given: [*prepare(self, *given)[:-1], ("seccomp", refuse, ())]
r, w = os.pipe()
end = end_of(lambda: os.write(w, b"ran"), keep=[w])
os.close(w)
lock_in.LockIn.prepare = prepare
read = os.read(r, 99).decode()
show(fault=end.setup_fault, status=end.exit_status, read=read, next=end_of(int).setup_fault)
"""
    answer = _in_cell(level, body)
    assert "no filter here" in str(answer.pop("fault"))
    assert answer == {"status": 125, "read": "", "next": None}


@needs_linux
@pytest.mark.parametrize("level", ["full", "reduced"])
def test_samples_of_one_cell_do_not_see_each_others_files(level: str) -> None:
    body = """
def leave():
    os.makedirs("a/b/c")
    open("a/x", "w").write("mine")
    os.symlink("/", "a/b/up")
def look():
    os._exit(len(os.listdir(".")))
end_of(leave)
show(left=end_of(look).exit_status)
"""
    assert _in_cell(level, body) == {"left": 0}


@needs_linux
def test_a_reduced_cell_runs_one_sample_at_a_time() -> None:
    body = """
first = cell.fork_sample(lambda: time.sleep(30), keep_fds=(), limits=Limits())
try:
    cell.fork_sample(lambda: None, keep_fds=(), limits=Limits())
    refused = False
except RuntimeError:
    refused = True
cell.close()
show(refused=refused)
"""
    assert _in_cell("reduced", body) == {"refused": True}


@needs_linux
@pytest.mark.parametrize("level", ["full", "reduced"])
def test_a_closed_cell_leaves_no_group_and_no_folder(level: str) -> None:
    # The cell is opened in a child: its parent stays outside, where folders and groups can be seen.
    body = f"""
from lm_eval_strict.sandbox import cgroups, work_folder
places = [*work_folder.PLACES, *(tree.folder for tree in cgroups.trees())]
def made(pid): return [name for place in places for name in os.listdir(place) if f"-{{pid}}-" in name]
pid = os.fork()
if pid == 0:
    inner = open_cell(Isolation({level!r}), Limits())
    inner.wait(inner.fork_sample(int, keep_fds=(), limits=Limits()), 30.0)
    inner.close()
    os._exit(0)
status = os.waitpid(pid, 0)[1]
show(status=status, left=made(pid))
"""
    if level in probe().faults:
        pytest.skip(f"this machine does not give {level}: {probe().faults[level]}")
    assert _in_cell("none", body) == {"status": 0, "left": []}


@needs_linux
def test_descriptors_do_not_pile_up_over_many_samples() -> None:
    body = """
def count(): return len([fd for fd in range(256) if not is_closed(fd)])
def is_closed(fd):
    try: os.fstat(fd)
    except OSError: return True
    return False
end_of(lambda: None)
before = count()
for _ in range(50): end_of(lambda: None)
show(more=count() - before)
"""
    assert _in_cell("full", body) == {"more": 0}


@needs_linux
def test_programs_may_import_lazily_and_use_threads_and_event_loops() -> None:
    body = """
def honest():
    import asyncio, dataclasses, decimal, hashlib, json, statistics, tempfile
    thread = threading.Thread(target=lambda: None); thread.start(); thread.join()
    assert asyncio.run(asyncio.sleep(0, 5)) == 5
    with tempfile.TemporaryFile() as stream: stream.write(b"x")
    hashlib.sha256(b"x")
show(statuses=[end_of(honest).exit_status])
"""
    assert _in_cell("full", body) == {"statuses": [0]}
    assert _in_cell("reduced", body) == {"statuses": [0]}
