"""Calls of a trusted function in processes that are killed at their limits."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from lm_eval_strict.sandbox.pool import Pool

FUNCTIONS = """
import os, time

def work(item):
    if item == "sleep":
        time.sleep(100)
    if item == "die":
        os._exit(3)
    if item == "raise":
        raise ValueError("no")
    if item == "fill":
        return len(bytearray(8 << 30))
    if item == "object":
        return object()
    if item == "pids":
        return [os.getpid(), os.getppid()]
    if item == "secret":
        return os.environ.get("MY_API_KEY")
    return item * 2
"""


@pytest.fixture(scope="module")
def functions(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    folder = tmp_path_factory.mktemp("functions")
    (folder / "functions_for_the_pool.py").write_text(FUNCTIONS)
    with pytest.MonkeyPatch.context() as patch:
        patch.syspath_prepend(str(folder))
        patch.setenv("MY_API_KEY", "secret")
        yield


@pytest.fixture(scope="module")
def pool(functions: None) -> Iterator[Pool]:
    with Pool("functions_for_the_pool:work", workers=2, call_wall_s=1.0, memory_mib=256) as made:
        yield made


def test_outcomes_come_in_input_order(pool: Pool) -> None:
    assert [outcome.value for outcome in pool.map(list(range(200)))] == [2 * n for n in range(200)]


def test_each_bad_end_has_its_word_and_the_others_are_not_touched(pool: Pool) -> None:
    outcomes = pool.map([1, "sleep", "die", "raise", "fill", "object", 2, "sleep", 3])
    assert [outcome.status for outcome in outcomes] == [
        "ok", "timed_out", "crashed", "raised", "crashed", "raised", "ok", "timed_out", "ok",
    ]  # fmt: skip
    assert outcomes[3].detail == "ValueError: no"
    assert [outcomes[n].value for n in (0, 6, 8)] == [2, 4, 6]


def test_a_worker_stays_warm_between_calls(pool: Pool) -> None:
    pids = {outcome.value[0] for outcome in pool.map(["pids"] * 20)}
    assert len(pids) <= 2


def test_no_environment_of_the_host_reaches_a_worker(pool: Pool) -> None:
    assert pool.map(["secret"])[0].value is None


def test_each_index_is_told_once(pool: Pool) -> None:
    told: list[int] = []
    pool.map(list(range(30)), on_done=told.append)
    assert sorted(told) == list(range(30))


def test_an_empty_list_starts_nothing(functions: None) -> None:
    made = Pool("functions_for_the_pool:work")
    assert made.map([]) == []
    assert made._client is None


def test_a_function_that_is_not_there_is_told_for_each_item(functions: None) -> None:
    with Pool("functions_for_the_pool:nothing", workers=1) as made:
        (outcome,) = made.map([1])
    assert (outcome.status, "nothing" in outcome.detail) == ("raised", True)
    with Pool("no_such_module_at_all:f", workers=1) as made:
        assert made.map([1])[0].status == "raised"
    with pytest.raises(ValueError, match="package"):
        Pool("no colon")


def test_it_works_from_several_threads_and_after_close(functions: None) -> None:
    made = Pool("functions_for_the_pool:work", workers=1)
    values: list[list[int]] = []
    threads = [
        threading.Thread(target=lambda: values.append([o.value for o in made.map([1, 2, 3])]))
        for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert values == [[2, 4, 6]] * 3
    made.close()
    assert made.map([4])[0].value == 8
    made.close()


def test_a_pool_serves_our_own_packages_too(tmp_path: Path) -> None:
    with Pool("lm_eval_strict.sandbox.literals:read_literal", workers=1) as made:
        assert made.map(["[1, True]"])[0].value == [1, True]
