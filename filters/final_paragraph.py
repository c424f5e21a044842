"""A reply's prose comes in; the result that its final paragraph states goes out, past checks and notes."""

from __future__ import annotations

import re
from dataclasses import dataclass

from .answer_words import ASIDE, CONCLUSION, INTENTION, REFUSAL
from .conclusions import Result, state_result
from .plainness import SUGGESTED
from .result_phrases import is_result_phrase
from .sentences import mask_math, split_paragraphs, split_sentences
from .worded_results import result_in_words

# The final paragraph stands in the last stretch of a reply; the bound keeps long noise cheap.
_TAIL = 6000
_MAX_ASIDES = 6
_MARKUP = re.compile(r"^(?:[\s>#*_`•|(]|[-–—](?=\s)|✅|✔️?|☑|\d{1,2}[.)]\s)+")
_ASIDE = re.compile(ASIDE, re.IGNORECASE)
_CONCLUSION = re.compile(CONCLUSION + r"(?![A-Za-z])", re.IGNORECASE)
_INTENTION = re.compile(INTENTION, re.IGNORECASE)
_REFUSAL = re.compile(REFUSAL, re.IGNORECASE)
_HYPOTHESIS = re.compile(r"^(?:(?:so|but|and),?\s)?(?:if|suppose|assume|had)\b(?!.*\bthen\b)", re.IGNORECASE)
_BOLD_END = re.compile(r"(?:\*\*|__)(?P<phrase>[^*_\d$\\\n]{2,40})(?:\*\*|__)[\s.!]*$")
_COMES_TO = re.compile(
    r"(?:which (?:is|gives|equals)|to get|we get|giving|gives us|, (?:so|thus|hence))\s*\S", re.IGNORECASE
)

_WORD = re.compile(r"[A-Za-z]{2,}")
_MANY_WORDS = 4
_ENDED = re.compile(r"[.!?。！？:：][\W_]*$")


@dataclass(frozen=True)
class Conclusion:
    """What the final paragraph comes to, and how it was marked there ("math", "bold", "words")."""

    text: str
    mark: str


def conclude(text: str) -> Conclusion | None:
    """Return the result that the final paragraph of ``text`` states; None where it states none.

    Trailing paragraphs and sentences that check, note or greet are passed over. A question, a plan ("we need
    to find ...") or a refusal states no result.
    """
    paragraphs = _without_asides(split_paragraphs(text[-_TAIL:]))
    if not paragraphs:
        return None
    worked = len(paragraphs) > 1
    found, plain = _conclude_paragraph(paragraphs[-1], worked=worked)
    if found is None and plain and len(paragraphs) > 1 and _opens_with_conclusion(paragraphs[-2]):
        found, _ = _conclude_paragraph(paragraphs[-2], worked=worked)
    return found


def strip_markup(sentence: str) -> str:
    """Take list signs, heading signs, emphasis and ticks off the front of a sentence."""
    return _MARKUP.sub("", sentence)


def is_aside(sentence: str) -> bool:
    """Say whether a sentence only checks, notes, explains or greets."""
    return _ASIDE.match(strip_markup(sentence)) is not None


def _without_asides(paragraphs: list[str]) -> list[str]:
    kept = list(paragraphs)
    for _ in range(_MAX_ASIDES):
        if not kept or not is_aside(kept[-1]):
            break
        kept.pop()
    return kept


def _opens_with_conclusion(paragraph: str) -> bool:
    return _CONCLUSION.match(strip_markup(paragraph)) is not None


def _conclude_paragraph(paragraph: str, *, worked: bool) -> tuple[Conclusion | None, bool]:
    """Read the sentences from the last backwards; the flag says that none of them held any value."""
    table_row = _last_table_cell(paragraph)
    sentences = [table_row] if table_row is not None else split_sentences(paragraph)
    plain = True
    for sentence in reversed(sentences[-40:]):
        bare = strip_markup(sentence)
        if not re.search(r"\w|[$\\]", bare) or is_aside(sentence):
            continue
        if _REFUSAL.search(bare):
            return None, False
        if bare.rstrip("*_ ").endswith(("?", "？")) or _HYPOTHESIS.match(bare):
            return None, False
        conclusive = _CONCLUSION.match(bare) is not None
        words = result_in_words(bare)
        if words is not None:
            return Conclusion(words, "words"), False
        intention = _INTENTION.search(bare)
        if intention and not (conclusive or bare.startswith("$") or _COMES_TO.search(bare, intention.end())):
            return None, False
        bold_end = _BOLD_END.search(sentence)
        if bold_end and is_result_phrase(bold_end["phrase"]):
            return Conclusion(bold_end["phrase"].strip(" .,"), "bold"), False
        result = state_result(sentence)
        alone = not (conclusive or worked or len(sentences) > 1)
        if result is not None and ((alone and _mentions(result, sentence)) or _only_led_to(result, sentence)):
            return None, False
        if result is not None:
            return Conclusion(result.text, "bold" if result.bold else "math"), False
        if re.search(r"[\d$\\]", bare):
            plain = False
    return None, plain


def _last_table_cell(paragraph: str) -> str | None:
    rows = paragraph.rstrip().splitlines()
    last = rows[-1].strip()
    if len(rows) < 2 or not (last.startswith("|") and last.endswith("|")):
        return None
    cell = last.strip("|").rsplit("|", 1)[-1].strip()
    return cell if cell.startswith(("**", "__", "$")) else ""


def _mentions(result: Result, sentence: str) -> bool:
    """Say whether a result is only mentioned: unstated, and no equation at the end of its sentence."""
    if result.plainness > SUGGESTED:
        return False
    if result.equation:
        return len(_WORD.findall(mask_math(sentence[result.end :]))) > 1
    return re.fullmatch(r"[\d,.]+", result.text) is not None


def _only_led_to(result: Result, sentence: str) -> bool:
    """Say whether a sentence without its end breaks off at a value that nothing in it states."""
    if result.plainness > SUGGESTED or result.equation or result.bold or _ENDED.search(sentence):
        return False
    return len(_WORD.findall(mask_math(sentence))) >= _MANY_WORDS
