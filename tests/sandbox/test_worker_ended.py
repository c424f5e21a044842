from __future__ import annotations

import subprocess
import sys

import pytest

SCRIPT = """
import os, sys, time
from lm_eval_strict.sandbox.lock_in import LockIn, Walls
from lm_eval_strict.sandbox.records import Isolation, Limits

null, statm = os.open("/dev/null", os.O_RDWR), os.open("/proc/self/statm", os.O_RDONLY)
said, says = os.pipe()
if os.fork() == 0:  # the worker
    locks = LockIn(Walls(Isolation.NONE, frozenset(), Limits(), null, statm))
    worker = os.getpid()
    if os.fork() == 0:  # a sample that asks for its worker's death as a signal only now
        while sys.argv[1] == "dead" and os.getppid() == worker:
            time.sleep(0.01)
        locks._end_without_worker()
        os.write(says, b"went on")
        os._exit(0)
    if sys.argv[1] == "alive":
        os.wait()
    os._exit(0)
os.close(says)
os.wait()
print(os.read(said, 100).decode())
"""


@pytest.mark.parametrize(("worker", "printed"), [("alive", "went on"), ("dead", "")])
def test_sample_whose_worker_died_before_the_death_signal_was_set_ends(worker: str, printed: str) -> None:
    ran = subprocess.run([sys.executable, "-c", SCRIPT, worker], capture_output=True, text=True, timeout=60)
    assert (ran.returncode, ran.stdout.strip(), ran.stderr) == (0, printed, "")
