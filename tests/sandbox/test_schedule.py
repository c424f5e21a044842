"""Which submission a free worker gets next."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from lm_eval_strict.sandbox.schedule import Schedule


def filled(*groups: tuple[str, int, float]) -> Schedule:
    schedule = Schedule()
    index = 0
    for key, count, weight in groups:
        for _ in range(count):
            schedule.add(key, index, None, weight)
            index += 1
    return schedule


def test_a_worker_stays_with_its_exam_and_heavy_exams_come_first() -> None:
    schedule, current, keys = filled(("light", 2, 1.0), ("heavy", 2, 9.0)), "", []
    while (taken := schedule.take(current)) is not None:
        current = taken[0]
        keys.append(current)
    assert keys == ["heavy", "heavy", "light", "light"]


def test_a_second_worker_takes_another_exam_before_it_joins_one() -> None:
    schedule = filled(("a", 3, 2.0), ("b", 1, 1.0))
    first, second = schedule.take(""), schedule.take("")
    assert first is not None and second is not None
    assert (first[0], second[0]) == ("a", "b")
    joined = schedule.take("b")
    assert joined is not None and joined[0] == "a"


def test_what_a_dead_worker_had_comes_first_again() -> None:
    schedule = filled(("a", 2, 1.0))
    taken = schedule.take("")
    assert taken is not None
    schedule.leave("a")
    schedule.put_back(*taken)
    assert schedule.take("") == taken


@given(st.lists(st.tuples(st.sampled_from("abcd"), st.integers(1, 4), st.floats(0, 9))), st.integers(1, 3))
def test_every_submission_is_given_out_exactly_once(
    groups: list[tuple[str, int, float]], workers: int
) -> None:
    schedule = filled(*groups)
    current = [""] * workers
    given_out = []
    turn = 0
    while (taken := schedule.take(current[turn % workers])) is not None:
        current[turn % workers] = taken[0]
        given_out.append(taken[1])
        turn += 1
    assert sorted(given_out) == list(range(sum(count for _, count, _ in groups)))
    assert len(schedule) == 0
