"""Thinking is cut first, in every markup that models use for it."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lm_eval_strict.filters.thinking import cut_thinking

CLOSED = [
    ("<think>a</think>b", "b"),
    ("<think>\na\n</think>\n\nb", "\n\nb"),
    ("<THINKING>a</THINKING>b", "b"),
    ("<reasoning>a</reasoning><answer>b</answer>", "<answer>b</answer>"),
    ("<reasoning>a <think>x</think> y</reasoning>b", "b"),
    ("<think>one</think>\n<think>two</think>b", "\nb"),
    ("a<think>x</think>b", "ab"),
    ("<think>I may write <think> tags.</think>b", "b"),
    ("<think>outer <think>inner</think> more</think>b", "b"),
    ("<thinking>a</think>b", "b"),
    ('<think time="3">a</think>b', "b"),
    ("&lt;think&gt;a&lt;/think&gt;b", "b"),
    ("◁think▷a◁/think▷b", "b"),
    ("[THINK]a[/THINK]b", "b"),
    ("<seed:think>a</seed:think>b", "b"),
    ("<|begin_of_thought|>a<|end_of_thought|>b", "b"),
    ("<|START_THINKING|>a<|END_THINKING|>b", "b"),
    ("<|channel>thought\na<channel|>b", "b"),
    ("<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>b", "b"),
    ("a<|end|><|start|>assistant<|channel|>final<|message|>b<|return|>", "b"),
    (
        "<|channel|>commentary to=python <|constrain|>json<|message|>{}<|call|><|channel|>final<|message|>b",
        "b",
    ),
    ("assistantanalysisA guess.assistantfinalb", "b"),
    ("analysisWe need 3.assistantfinalThe answer is 4.", "The answer is 4."),
    ("Here are my reasoning steps:\na\n[BEGIN FINAL RESPONSE]b[END FINAL RESPONSE]", "b"),
]


@pytest.mark.parametrize(("reply", "visible"), CLOSED)
def test_closed_thinking_leaves_what_was_meant_for_the_reader(reply: str, visible: str) -> None:
    assert cut_thinking(reply) == (visible, False)


@pytest.mark.parametrize(
    "reply", ["a \\boxed{1}</think>b", "a</reasoning>b", "x</think>y</think>b", "a◁/think▷b"]
)
def test_a_closer_without_an_opener_cuts_all_before_it(reply: str) -> None:
    assert cut_thinking(reply) == ("b", False)


@pytest.mark.parametrize(
    ("reply", "visible"),
    [
        ("<think>a", ""),
        ("b<think>a", "b"),
        ("<think>a</think>b<think>c", "b"),
        ("<|channel|>analysis<|message|>a", ""),
        ("analysisWe need 3.", ""),
        ("<reasoning>a <think>", ""),
    ],
)
def test_unclosed_thinking_is_cut_to_the_end_and_said(reply: str, visible: str) -> None:
    assert cut_thinking(reply) == (visible, True)


@pytest.mark.parametrize(
    "reply",
    [
        "",
        "    return n * n\n",
        "text.replace('</think>', '')",
        "The `<think>` tag opens it.",
        "analysis: 3",
        "Analysis\nx",
        "a < b > c",
        "final assistant",
    ],
)
def test_text_without_thinking_comes_back_unchanged(reply: str) -> None:
    assert cut_thinking(reply) == (reply, False)


@given(st.text(), st.text(alphabet="ab <>/\n`"))
def test_whatever_stands_before_the_closer_only_what_follows_is_seen(thought: str, rest: str) -> None:
    assert cut_thinking("<think>" + thought.replace("<", "(") + "</think>\n" + rest)[0].endswith("\n" + rest)


@given(
    st.lists(
        st.sampled_from(
            ["<think>", "</think>", "<|channel|>final<|message|>", "assistantfinal", "a", "[THINK]"]
        )
    )
)
def test_any_heap_of_markers_gives_a_text_no_longer_than_the_reply(parts: list[str]) -> None:
    visible, _ = cut_thinking("".join(parts))
    assert len(visible) <= len("".join(parts)) + 2 * len(parts)
