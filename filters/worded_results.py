"""A concluding sentence comes in; the result that it says in words alone goes out: a name, "even"."""

from __future__ import annotations

import re

from .answer_words import CONCLUSION

_NONE_EXISTS = re.compile(
    r"\b(?:there (?:is|are|exists?|were|was)|has|have|having|admits?|with|find|found"
    r"|get) (?P<none>no (?:(?:real|integer|such|possible|valid|other|rational|positive|natural|complex"
    r"|common|finite|more) )*(?:solutions?|roots?|values?|answers?|integers?|numbers?|triangles?|points?"
    r"|intersections?|x-intercepts?|limit|inverse)(?: (?:exist|possible))?)\b",
    re.IGNORECASE,
)
_NO_SUCH = re.compile(
    rf"(?:{CONCLUSION},?\s+)?(?P<none>no (?:such |real |integer )*[a-z]+) (?:exists?|(?:is|are) possible"
    rf"|works?)\W*$",
    re.IGNORECASE,
)
_SAID_AT_END = re.compile(
    r"(?:\b(?:is|are|be|has|have|there are|there is|as|equals|must be|remains?|limit|value|expression"
    r"|function|sum|series)\b[ ,:]+(?:therefore |thus |simply )?"
    r"|^)(?P<phrase>infinitely many(?: (?:solutions|points|values|pairs))?|infinite(?:ly)?"
    r"|all real numbers|all reals|all integers|undefined|(?:does|do) not exist|doesn't exist|impossible"
    r"|none of the (?:above|these)|the empty set|empty|divergent|diverges|indeterminate|(?:neither|odd"
    r"|even|yes|no|true|false|none|never|always|sometimes|zero))(?=[\s.,*!]*$|[ ,]+(?:that|which|of|for|in"
    r"|because|since)\b)",
    re.IGNORECASE,
)
_ABSENT = re.compile(
    r"\b(?P<phrase>(?:does|do) not exist|doesn't exist)(?:[\s.*!]*$| under\b| for\b| in\b)", re.IGNORECASE
)
_NUMBERS = "one two three four five six seven eight nine ten eleven twelve"
_COUNT = re.compile(
    rf"\bthere (?:are|is) (?:exactly |only |just )?(?P<count>{_NUMBERS.replace(' ', '|')}) [a-z]+",
    re.IGNORECASE,
)
_ENDLESS = re.compile(r"\b(?:there (?:are|exist)|has|have|for) (?P<phrase>infinitely many)\b", re.IGNORECASE)
_LETTER = re.compile(r"\b(?:is|be|are) (?:graph |option |choice )?(?P<name>\(?[A-H]\)?)[\s.*]*$")
_VERBS = (
    r"(?:is|was|has|had|would|will|can|must|does|did|should|runs?|earns?|gets?|wins?|won|scored|covers"
    r"|travels|receives|makes?|made|finishes|finished|takes|took|spent|ran|walks|drives|pays|saves)"
)
_SUBJECT = re.compile(
    rf"^{CONCLUSION},?\s+(?:we (?:can )?see that )?(?P<name>[A-Z][a-z]+)\s+{_VERBS}\b", re.IGNORECASE
)
_SUPERLATIVE = re.compile(
    rf"(?:^|that |,\s)(?P<name>[A-Z][a-z]+)\s+(?:wins?\b|won\b|{_VERBS}\b[^.]{{0,60}}\b(?:most|least"
    rf"|highest|lowest|largest|smallest|greatest"
    r"|fewest|longest|shortest|fastest|slowest|winner|oldest|youngest|tallest)\b)"
)
_PERSON = re.compile(
    r"\b(?:person|student|player|one|child|friend|runner|boy|girl|winner|team|employee|worker|day|month"
    r"|planet|color|colour|letter|shape)\b[^.$]{0,60}?\s(?:is|was|would be|will be"
    r"|must be)\s(?P<name>[A-Z][A-Za-z]+)\b(?!')"
)
_ON_A_DAY = re.compile(
    r"\b(?:on|is|be|was)\s(?:an?\s)?(?P<name>(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day)(?=[\s.*!]*$"
    r"|, (?:which|the|since)\b)"
)
_NO_NAMES = frozenset(
    [
        "it",
        "this",
        "that",
        "there",
        "they",
        "he",
        "she",
        "we",
        "you",
        "these",
        "those",
        "here",
        "what",
        "which",
        "each",
        "every",
        "both",
        "all",
        "none",
        "some",
        "many",
        "most",
        "x",
        "y",
        "the",
        "a",
        "an",
        "our",
        "its",
        "his",
        "her",
        "their",
        "since",
        "if",
        "when",
        "for",
        "in",
        "on",
        "at",
        "by",
        "to",
        "so",
        "thus",
        "hence",
        "using",
        "one",
        "two",
        "three",
        "only",
        "let",
        "sum",
        "area",
        "volume",
        "number",
        "answer",
    ]
)
_PREDICATE = re.compile(
    rf"^{CONCLUSION},?\s+[^.$\\\d]{{3,90}}?\s(?:is|are|must be|would be|will be|represents|describes|faces"
    rf"|facing|called)\s"
    r"(?P<not>not )?(?:an?\s|the\s|facing\s)?(?P<what>[A-Za-z][A-Za-z-]*(?:\s[A-Za-z-]+){0,2})[.!*]*$",
    re.IGNORECASE,
)
_EMPTY_PREDICATES = frozenset(
    [
        "true",
        "correct",
        "complete",
        "done",
        "solved",
        "proven",
        "proved",
        "proof",
        "valid",
        "verified",
        "satisfied",
        "required",
        "follows",
        "above",
        "below",
        "found",
        "finished",
        "inconsistent",
        "given",
        "known",
        "shown",
        "answer",
        "result",
        "possible",
        "easy",
        "clear",
        "it",
        "this",
        "that",
        "unknown",
        "needed",
        "problem",
        "equation",
        "expression",
    ]
)
# A number after the name is the result instead, unless it only goes with it ("wins with 30 points").
_COUNTS = re.compile(r"(?<!with)(?<!with a)(?<!by)(?<!at)(?<!of)(?<!after)(?<!in)(?<!for)[ =$]+\\?\d|[=$\\]")
_BUT = re.compile(r"\b(?:but|except|other than|unless|if|only|so)\b")


def result_in_words(sentence: str) -> str | None:
    """Return the result that ``sentence`` says in words; None where it says a number, a formula, or nothing.

    The subject of "Therefore, Navin would earn the most.", "no real solutions", "undefined", and what
    something is, in at most three words, after a word of conclusion.
    """
    none = _NONE_EXISTS.search(sentence)
    if none and not _BUT.search(sentence[none.end() :]):
        return none["none"]
    absent = _NO_SUCH.match(sentence)
    if absent:
        return absent["none"]
    for pattern in (_ON_A_DAY, _SUPERLATIVE, _PERSON):
        named = pattern.search(sentence)
        if (
            named
            and named["name"].lower() not in _NO_NAMES
            and not _COUNTS.search(sentence, named.end("name"))
        ):
            return named["name"]
    count = _COUNT.search(sentence)
    if count and not re.search(r"\d|[:：]", sentence):
        return str(_NUMBERS.split().index(count["count"].lower()) + 1)
    for pattern in (_ABSENT, _ENDLESS, _LETTER):
        found = pattern.search(sentence)
        if found:
            return found[1]
    said = _SAID_AT_END.search(sentence)
    if said and not re.search(r"[\d$\\]", sentence[said.end() :]):
        return said["phrase"]
    if re.search(r"[\d$\\*`]", sentence):
        return None
    subject = _SUBJECT.match(sentence)
    if subject and subject["name"].lower() not in _NO_NAMES and subject["name"][0].isupper():
        return subject["name"]
    predicate = _PREDICATE.match(sentence)
    if predicate and not predicate["not"] and predicate["what"].lower().split()[-1] not in _EMPTY_PREDICATES:
        return predicate["what"]
    return None
