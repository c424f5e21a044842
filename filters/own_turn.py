"""A visible reply comes in; what the model says in its own turn goes out, as Markdown with LaTeX."""

from __future__ import annotations

import re

_OPENING = re.compile(
    r"(?:\s*(?:<s>|<bos>|<\|begin_of_text\|>|<\|im_start\|>(?:assistant)?|<start_of_turn>model"
    r"|<\|assistant\|>|<\|start_header_id\|>assistant<\|end_header_id\|>|<\|start\|>assistant"
    r"|<\|text\|>))+"
)
_ECHOED_PROMPT = re.compile(r"\s*(?:<s>\s*)?\[INST\]")
_TURN_END = re.compile(
    r"</s>|<eos>|<end_of_turn>|<start_of_turn>|<\|(?:eot_id|eom_id|im_end|im_start|endoftext|end_of_text"
    r"|end|return|user|system|start_header_id|EOT|END_OF_TURN_TOKEN|pad)\|>|<｜end▁of▁sentence｜>"
    r"|<｜User｜>|<pad>|\[/?INST\]"
)
_LEFTOVER_TOKEN = re.compile(r"<\|[A-Za-z_]{1,30}\|>|<｜[^｜<>\n]{1,30}｜>|</?s>|</?(?:bos|eos|pad|unk)>")

# Something that hands over an answer: what follows may be a new problem that the model invented.
_STATED = re.compile(
    r"\\(?:boxed|fbox|framebox)\s*\{|answer\W{0,6}(?:is|:|=)|####\s*\S|答案|hope it is correct", re.I
)
_NEXT_PROBLEM = re.compile(
    r"^[ \t>#*_]*(?:\[?(?:(?:next|another|new|similar|practice) )?(?:problem|question|exercise|example"
    r"|input|instruction|task|prompt|human|user|q|student)\]?[ \t]{0,3}(?:\d{1,4}|\([a-z0-9]\)"
    r"|[ivx]{1,4})?[ \t]{0,3}(?:\*\*|__)?[ \t]{0,3}(?:[:：]|\.\s|\n|\*\*)|(?:问题|题目|例题|问)\d*[:：]"
    r"|now (?:solve|try) (?:this|the following)\b)",
    re.IGNORECASE | re.MULTILINE,
)
_PROMISE = re.compile(r"I hope (?:it|this) is correct\.?", re.IGNORECASE)

_MARKUP = (
    (re.compile(r"</?(?:b|strong)>", re.IGNORECASE), "**"),
    (re.compile(r"</?(?:i|em)>", re.IGNORECASE), "*"),
    (re.compile(r"\[asy\](?:(?!\[asy\]).)*?\[/asy\]", re.DOTALL), "\n"),
    (re.compile(r"<br\s*/?>|</?(?:p|div|center|span)>", re.IGNORECASE), "\n"),
    (re.compile(r"<sup>([^<>\n]{1,40})</sup>", re.IGNORECASE), r"^{\1}"),
    (re.compile(r"<sub>([^<>\n]{1,40})</sub>", re.IGNORECASE), r"_{\1}"),
    (re.compile(r"&nbsp;|[\u00a0\u2007\u202f\u3000]"), " "),
    (re.compile(r"&lt;"), "<"),
    (re.compile(r"&gt;"), ">"),
    (re.compile(r"&amp;"), "&"),
    (re.compile(r"[\u200b-\u200f\u2060\ufeff\u00ad\ufe0f]"), ""),
    (re.compile(r"\r\n?"), "\n"),
    (re.compile("[\x08](?=oxed)"), r"\\b"),
    (re.compile("[\x0c](?=rac|box)"), r"\\f"),
)


def own_turn(visible: str, *, base: bool) -> str:
    """Return ``visible`` up to the end of the model's own turn, tokens dropped, HTML read as Markdown.

    A turn ends at an end-of-turn token or where the model goes on with another problem after it has answered.
    A ``base`` model was shown problem after problem: there, any next problem ends the turn.
    """
    text = _cut_special_tokens(visible)
    for pattern, replacement in _MARKUP:
        text = pattern.sub(replacement, text)
    return _cut_next_problem(text, base=base)


def _cut_special_tokens(text: str) -> str:
    if _ECHOED_PROMPT.match(text):
        text = text.partition("[/INST]")[2] or text
    opening = _OPENING.match(text)
    if opening:
        text = text[opening.end() :]
    for end in _TURN_END.finditer(text):
        if text[: end.start()].strip():
            text = text[: end.start()]
            break
    return _LEFTOVER_TOKEN.sub("", text)


def _cut_next_problem(text: str, *, base: bool) -> str:
    promise = _PROMISE.search(text)
    if promise:
        text = text[: promise.end()]
    if base:
        content = re.search(r"\w", text)
        start = content.end() if content else len(text)
    else:
        stated = _STATED.search(text)
        start = stated.end() if stated else len(text)
    following = _NEXT_PROBLEM.search(text, start)
    return text[: following.start()] if following else text
