"""An announcement of an answer and the text around it come in; the value that it announces goes out."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .answer_lines import Statement
from .answer_words import REFUSAL
from .conclusions import state_result
from .equations import result_of
from .math_spans import find_math
from .prose_words import mask_math_and_text, prose_words
from .restatements import drop_restatement
from .sentences import split_paragraphs, split_sentences
from .trim_answer import drop_lead_words, trim_answer
from .worded_results import result_in_words

_ZONE = 1500
_REFUSAL = re.compile(REFUSAL, re.IGNORECASE)
_LEADS_ON = re.compile(
    r"^(?:(?:as follows|the following|this|below|here|that|(?:the )?(?:final |correct )?answer(?: is)?"
    r"|therefore|thus|so)[\s,]*[:：]?\s+)+",
    re.IGNORECASE,
)
_NO_VALUE = re.compile(
    r"^(?:not\b|in(?:correct)?\b|as\b|to\b(?!\s*infinity)|correct\b|wrong\b|right[.,]|clear\b|obtained"
    r"|found\b|given\b|based\b|because|below\b|above\b|(?:an? |the )?same\b|expressed|written|rounded"
    r"|within|simple\b|independent|let\b|we\b|first\b|step\b|consistent|reasonable|close\b|likely\b"
    r"|choices?\b|key\b|format|should\b|must\b|unclear|uncertain|different|always\b|one of\b|valid\b|ready"
    r"|the (?:problem|question)\b|(?:your|the) (?:final )?answer\b|then\b|this\b|it\b|what\b|how\b|why\b"
    r"|indeed\b$)",
    re.IGNORECASE,
)
_CHOICE = re.compile(
    r"^(?:(?:option|choice|letter"
    r"|statement)s?\s*)?(?:\\text(?:bf)?\s*\{\s*)?(?P<choice>[(（]\s?[A-Ha-h]\s?[)）]"
    r"|\*{0,2}(?-i:[A-H])\*{0,2}(?=\s*(?:[.):,：}]|$|is (?:the )?(?:correct|right))))",
    re.IGNORECASE,
)
_MORE_CHOICES = re.compile(r"\s*(?:,|&|and|or)\s*[(（]?(?-i:[A-H])\b", re.IGNORECASE)
_ALL_BUT = re.compile(r"all (?:real numbers|reals|integers)(?: \S+){1,6}", re.IGNORECASE)
_EMPTY_BOX = re.compile(r"\$?\\(?:boxed|fbox)\s*\{\s*\}\$?")
_ONE_WORD = re.compile(r"^(yes|no|true|false|even|odd|neither|none|never|always)(?=[,.;!]|$)", re.IGNORECASE)
_CONSEQUENCE = re.compile(
    r"(?:^|[,;.]?\s)(?:so(?! that)|thus|therefore|hence|which (?:gives|means|equals|is equal to"
    r"|simplifies to)|giving(?: us)?|making|that is,?|i\.e\.,?|or simply"
    r"|or equivalently)[,\s]+(?=.*[\d\\$π∞])",
    re.IGNORECASE,
)
_EXPLANATION = re.compile(
    r"(?:,?\s(?:since|because|where|which|so that|when|if|as (?:the|it|we|there|this|required|desired"
    r"|shown|expected)|after|but|not|rather|instead|with|by|from|for (?:all|any|every|each|the|which|this)"
    r"|that|who|whose|meaning|assuming|given)\b|;\s|\s[—–-]{1,2}\s(?=[A-Za-z]{2})|\s\((?:or|i\.e\.|that is"
    r"|approximately|about|≈)\s|\s\((?!\s?[\d$\\(−-])(?=[^()]*[a-z]{3,})|,\s(?:an?|the)\s|,\s+I\b"
    r"|\.\s+[A-Z]|\s[✅✔☑])",
    re.IGNORECASE,
)
# A clause or a description is no answer in words.
_CLAUSE = re.compile(
    r"^(?:the (?!empty|origin|x-axis|y-axis)|this|these|that|its|their|any|what|when)\b|\b(?:is|are|will"
    r"|be|has|have|can|we|you|it)\b",
    re.IGNORECASE,
)
_PHRASE_WORDS = 5


@dataclass(frozen=True)
class StatedValue:
    """What an announcement hands over: ``text`` is None where it says that there is none to be had."""

    text: str | None
    bold: bool


def read_statement(text: str, statement: Statement) -> StatedValue | None:
    """Read the value that ``statement`` announces in ``text``; None where no value follows its words."""
    if statement.backwards:
        return _read_before(text, statement)
    line_start = text.rfind("\n", 0, statement.start) + 1
    opened_bold = _opens_bold(text[line_start : statement.end], "**") or _opens_bold(
        text[line_start : statement.end], "__"
    )
    zone = _EMPTY_BOX.sub("", text[statement.end : statement.end + _ZONE])
    zone, bold = _bold_zone(zone, opened_bold)
    bold = bold or re.search(r"\*\*|__", text[statement.start : statement.end]) is not None
    if not opened_bold:
        zone = re.sub(r"^\s*(?:\*{1,3}|_{1,3})(?=\s)", "", zone)
    sentence = _first_sentence(zone, statement.label)
    if sentence is None:
        return None
    zone = sentence
    if re.match(r"\s*(?:\*\*|__)[^*_\n]+(?:\*\*|__)\W*$", zone):
        bold = bold or statement.label
    value = _interpret(zone)
    value = drop_restatement(value) if value else value
    if value is None:
        return StatedValue(None, bold) if _REFUSAL.search(zone[:200]) else None
    return StatedValue(value, bold)


def _opens_bold(prefix: str, mark: str) -> bool:
    return prefix.count(mark) % 2 == 1


def _bold_zone(zone: str, opened_bold: bool) -> tuple[str, bool]:
    """Where the announcement stands in bold, its value ends with the bold or comes after it."""
    if not opened_bold:
        return zone, False
    closing = re.search(r"\*\*|__(?![A-Za-z0-9])", zone)
    if closing is None or "\n" in zone[: closing.start()].strip():
        return zone, False
    inside = zone[: closing.start()].strip(" \t:：")
    if inside:
        return zone[: closing.start()], True
    return zone[closing.end() :], True


def _first_sentence(zone: str, label: bool) -> str | None:
    """Return the sentence, line or display that holds the value."""
    stripped = zone.lstrip(" \t*_:：")
    if not stripped.startswith("\n"):
        paragraph = split_paragraphs(zone)
        sentences = split_sentences(paragraph[0]) if paragraph else []
        return _with_continuation(sentences) if sentences else None
    following = split_paragraphs(stripped)
    if not following:
        return None
    sentences = split_sentences(following[0])
    if not sentences or (label and len(sentences) > 2 and not re.match(r"[$\\*\d(]", sentences[0])):
        return None
    return sentences[0]


def _with_continuation(sentences: list[str]) -> str:
    first = sentences[0]
    leads_on = re.search(r"[:：]\s*(?:\n|$)", first.rstrip("*_ ") + "\n") is not None
    for following in sentences[1:6]:
        goes_on = leads_on and "=" in following and not re.search(r"[a-z]{4,} [a-z]{2,}", following)
        if not (goes_on or re.fullmatch(r"\W*", first) or first.rstrip().endswith((":", "："))):
            break
        first = f"{first} {following}"
    return first


def _interpret(zone: str) -> str | None:
    bare = zone.strip(" \n\t*_:：").rstrip(".,;。*_ ")
    whole = _whole_math(bare)
    if whole is not None:
        return whole
    head = trim_answer(zone.strip())
    head = _LEADS_ON.sub("", head)
    head = drop_lead_words(trim_answer(head))
    if not head or _REFUSAL.search(head[:200]):
        return None
    worded = result_in_words(head)
    if worded is not None and _no_such_thing(worded):
        return worded
    choice = _CHOICE.match(head)
    if choice and _MORE_CHOICES.match(head, choice.end()):
        return head
    if choice:
        return re.sub(r"（\s?([A-Za-z])\s?）", r"\1", choice["choice"]).strip("* ")
    if _NO_VALUE.match(head) or head.endswith("?"):
        return None
    word = _ONE_WORD.match(head)
    if word:
        return word[1]
    if _ALL_BUT.fullmatch(head):
        return head
    head = re.sub(r"\s*(?:है|हैं|होगा)$", "", head.rstrip("!। "))
    whole = _whole_math(head)
    if whole is not None:
        return whole
    consequence = _CONSEQUENCE.search(mask_math_and_text(head))
    if consequence and consequence.start() > 0:
        later = state_result(head[consequence.end() - 1 :])
        if later is not None:
            return later.text
    return _read_head(head)


def _no_such_thing(worded: str) -> bool:
    return (
        re.match(
            r"no\s|\d+$|infinite|all (?:real|int)|undefined|do(?:es)? not exist|none\b", worded, re.IGNORECASE
        )
        is not None
    )


def _whole_math(head: str) -> str | None:
    spans = find_math(head)
    if len(spans) != 1 or spans[0].start != 0 or head[spans[0].end :].strip(" .,;:!。*_"):
        return None
    value = trim_answer(result_of(trim_answer(spans[0].body), keep_assignment=True))
    return value or None


def _read_head(head: str) -> str | None:
    explanation = _EXPLANATION.search(mask_math_and_text(head), 1)
    short = trim_answer(head[: explanation.start()] if explanation else head)
    if not short:
        return None
    if not prose_words(short):
        whole = _whole_math(short)
        if whole is not None:
            return whole
        if "$" not in short and r"\(" not in short:
            return trim_answer(result_of(short, keep_assignment=True)) or None
    result = state_result(head, keep_assignment=True) or state_result(short, keep_assignment=True)
    if result is not None:
        return result.text
    ordinal = re.match(r"(?:the\s+)?(\d+(?:st|nd|rd|th))\b", short)
    if ordinal:
        return ordinal[1]
    if re.search(r"\d", short) and not re.search(r"[$\\]", short):
        return None
    words = short.split()
    if len(words) <= _PHRASE_WORDS and not _CLAUSE.search(short) and re.search(r"\w", short):
        return re.sub(r"^(?:option|choice)\s+", "", short, flags=re.IGNORECASE)
    return None


def _read_before(text: str, statement: Statement) -> StatedValue | None:
    before = text[max(0, statement.start - _ZONE) : statement.start]
    paragraphs = split_paragraphs(before)
    sentences = split_sentences(paragraphs[-1]) if paragraphs else []
    if not sentences:
        return None
    result = state_result(sentences[-1], keep_assignment=True)
    if result is None or len(sentences[-1].rstrip(" ,$*")) - result.end > 25:
        return None
    return StatedValue(result.text, False)
