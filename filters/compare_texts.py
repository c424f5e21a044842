"""Two answers in words in, a decision out: the same words, whatever their case, quotes and articles."""

from __future__ import annotations

import re

from .answer_tokens import Spelling, tokenize
from .marked_answers import choice_letter, without_markup
from .math_nodes import UnreadableError
from .math_words import words
from .strict_decision import Decision, decided

_ARTICLES = words("a an the")
_HARMLESS = words(
    "a an the is are was it its this that there graph curve answer function number triangle angle shape"
    " figure he she they so in of be solution result person student name day direction conic section equation"
    " represents"
)
_NEGATIONS = words("not no never neither nor isn't aren't cannot non")
_JOINED = words("or and & / versus")
_ABBREVIATED = {
    "mon": "monday", "tue": "tuesday", "tues": "tuesday", "wed": "wednesday", "thu": "thursday",
    "thur": "thursday",     "thurs": "thursday", "fri": "friday", "sat": "saturday", "sun": "sunday",
    "jan": "january",
    "feb": "february",     "mar": "march", "apr": "april", "jun": "june", "jul": "july",
    "aug": "august", "sep": "september",
    "sept": "september", "oct": "october", "nov": "november", "dec": "december", "y": "yes", "n": "no",
    "t": "true",     "f": "false",
}  # fmt: skip
_SAME_WORDS = {
    "solutions": "solution",
    "roots": "root",
    "dne": "undefined",
    "1st": "1",
    "2nd": "2",
    "3rd": "3",
}
_NOTHING = (
    ("no", "solution"), ("none",), ("no", "real", "solution"), ("empty", "set"), ("emptyset",),
    ("does", "not", "exist"),     ("no", "such", "number"), ("nothing",),
)  # fmt: skip
_WORD = re.compile(r"[^\W_]+(?:'[a-z]+)?|\\[a-z]+")
_SENTENCE_WORDS = 4


def words_of(clean: str) -> tuple[str, ...]:
    """Return the words and numbers of an answer, in small letters and without articles."""
    plain = without_markup(re.sub(r"\\varnothing|\\\{\s*\\\}", r"\\emptyset", clean))
    plain = re.sub(r"[{}$]", " ", plain)
    plain = re.sub(r"\\[,;:! ]|\\q?quad", " ", plain)
    found = [word.lower().lstrip("\\") for word in _WORD.findall(plain)]
    found = [re.sub(r"^(\d+)(?:st|nd|rd|th)$", r"\1", word) for word in found]
    return tuple(_SAME_WORDS.get(word, word) for word in found if word not in _ARTICLES)


def compare_text(answer: str, gold: str) -> Decision:
    """Compare two cleaned texts word by word; a sentence round the gold's words is debatable."""
    mine, theirs = words_of(answer), words_of(gold)
    if not mine or not theirs:
        return decided(False, "no words")
    if _same_tokens(answer, gold):
        return decided(True, "same signs")
    if mine == theirs:
        return decided(_punctuation_fits(answer, gold), "same words")
    if _without_and(mine, answer) == _without_and(theirs, gold) != ():
        return decided(True, "same words, listed")
    if theirs == ("infinitely", "many") and mine in (("infty",), ("infinite",), ("infinity",)):
        return decided(True, "both say that there is no end", "infinity_for_infinitely_many")
    if theirs in _NOTHING and mine in _NOTHING:
        return decided(True, "both say that there is none", "empty_set_for_none")
    if tuple(_ABBREVIATED.get(word, word) for word in mine) == theirs:
        return decided(True, "same word, abbreviated", "abbreviation")
    return _sentence(answer, mine, theirs)


def _same_tokens(answer: str, gold: str) -> bool:
    """Tell whether two texts are the same signs one by one, however they are spelled and spaced."""
    try:
        sides = [tokenize(text, Spelling()) for text in (answer, gold)]
    except UnreadableError:
        return False
    plain = [
        [(one.kind, one.text, one.value) for one in side if one.text not in ("{", "}")] for side in sides
    ]
    return plain[0] == plain[1]


def _punctuation_fits(answer: str, gold: str) -> bool:
    """Signs between words must be the same ones: a formula that cannot be read is more than its numbers."""
    brackets = r"()\[\]" if "\\" in without_markup(gold) else ""
    signs = re.compile(rf"(?<![A-Za-z])[-=<>+*^|/&:]|[=<>+*^|/&:{brackets}]")
    return signs.findall(without_markup(answer)) == signs.findall(without_markup(gold))


def _without_and(words: tuple[str, ...], text: str) -> tuple[str, ...]:
    """Return the words of a list without what joins them, or none where the text is no list."""
    if "," not in text and "and" not in words:
        return ()
    return tuple(word for word in words if word != "and")


def _sentence(answer: str, mine: tuple[str, ...], theirs: tuple[str, ...]) -> Decision:
    place = _contained(theirs, mine)
    if place >= 0:
        rest = mine[:place] + mine[place + len(theirs) :]
        if set(rest) & _NEGATIONS or set(rest) & _JOINED or re.search(r"[,&/]", answer):
            return decided(False, "other words beside the gold's")
        if all(word in _HARMLESS for word in rest):
            return decided(True, "the gold's words in a sentence")
        names = re.findall(r"\b[A-Z][a-z]+", without_markup(answer))
        others = [name for name in names if name.lower() not in theirs and name.lower() not in _HARMLESS]
        leads = place == 0 and not others and len(rest) > 1
        return decided(leads, "the gold's words lead a sentence", "sentence_for_name")
    sentence = sum(word.isalpha() and len(word) > 1 for word in theirs) >= _SENTENCE_WORDS
    if sentence and _contained(mine, theirs) >= 0 and 2 * len(mine) <= len(theirs):
        return decided(not set(mine) <= _HARMLESS, "words of the gold's sentence", "name_for_sentence")
    return decided(False, "other words")


def _contained(inner: tuple[str, ...], outer: tuple[str, ...]) -> int:
    """Return where ``inner`` stands in ``outer`` as a run of whole words, or -1."""
    for place in range(len(outer) - len(inner) + 1):
        if outer[place : place + len(inner)] == inner:
            return place
    return -1


def compare_choice(text: str, clean: str, letter: str) -> Decision:
    """Compare a choice letter; a small letter is debatable, the option's text alone cannot be checked."""
    mine = choice_letter(text, clean)
    if mine is None:
        has_words = bool(re.fullmatch(r"[A-Za-z ]{3,}", without_markup(clean).strip()))
        return decided(False, "no single letter", "option_text" if has_words else "")
    if mine == letter:
        return decided(True, "same letter")
    return decided(
        mine.upper() == letter, "same letter, small", "small_letter" if mine.upper() == letter else ""
    )
