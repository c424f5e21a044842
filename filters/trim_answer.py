"""An answer as it stands in a reply comes in; the same answer without its wrapping goes out."""

from __future__ import annotations

import re

_PAIRS = (
    ("**", "**"),
    ("__", "__"),
    ("```", "```"),
    ("``", "``"),
    ("`", "`"),
    ("$$", "$$"),
    ("$", "$"),
    (r"\(", r"\)"),
    (r"\[", r"\]"),
    ("*", "*"),
    ("“", "”"),
    ('"', '"'),
    ("「", "」"),
    ("《", "》"),
    ("【", "】"),
    ("<code>", "</code>"),
    ("<answer>", "</answer>"),
)
_END_MARKS = " \t\n.,;:!?。，；：！、?"
_LEADING = " \t\n:：,;。，;"
_SPACING = re.compile(r"(?:\\[,;!:> ]|\\quad|\\qquad|~|\\displaystyle|\\\\|\\(?=$))+")
_KEEPS_STOP = re.compile(
    r"(?:\b[ap]\.m|\bsq\.?(?: ?in)?|\b(?:in|ft|cm|yd|mi|lb|oz|hr|min|sec)|\d|\.\.)\.$|\\ldots$|\\dots$"
    r"|\d!$|[a-zA-Z]!$"
)
_APPROXIMATELY = re.compile(
    r"(?:(?:approximately|about|roughly|around|exactly|simply|just|either|both|therefore|thus|then|indeed"
    r"|also|equal to|given by|clearly|only|still|hence)\b,?\s*|[≈=]\s*|\\approx\s*|:\s*)+",
    re.IGNORECASE,
)
_WORDS_IN_TEXT = re.compile(
    r"\\(?:text|mbox|textbf|mathrm)\s*\{\s*(?:so|thus|therefore|hence)?,?\s*(?:the |our |my )?(?:final "
    r"|correct )?(?:answer(?:\s*(?:is|:|=))*|[a-z]+(?: [a-z]+){0,4} (?:is|are"
    r"|equals)(?=\s*\}))\s*(?P<rest>(?![^{}]*\bnot\b)[^{}]*)\}\s*",
    re.IGNORECASE,
)
_PLAIN_WORDS = re.compile(
    r"(?:so|thus|therefore|hence)?,?\s*(?:the |our |my )?(?:final |correct )?answer\s*(?:is|:"
    r"|=)[:\s]*(?!not\b)",
    re.IGNORECASE,
)

_DESCRIPTION = re.compile(r"(?:[A-Za-z]+ ){1,6}(?:is|are|equals) (?=[-−]?[\d\\$(√])")


def trim_answer(raw: str) -> str:
    """Take delimiters, emphasis, quotes, end marks and outer spacing off ``raw``, layer by layer."""
    answer = raw.strip()
    for _ in range(12):
        before = answer
        answer = _trim_once(answer)
        if answer == before:
            break
    return answer


def _trim_once(answer: str) -> str:
    answer = answer.strip().lstrip(_LEADING)
    spacing = _SPACING.match(answer)
    if spacing and not answer.startswith(r"\\["):
        answer = answer[spacing.end() :]
    while answer and answer[-1] in _END_MARKS and not _keeps_last(answer):
        answer = answer[:-1]
    answer = _trim_spacing_at_end(answer)
    for opener, closer in _PAIRS:
        if _wraps(answer, opener, closer):
            return answer[len(opener) : len(answer) - len(closer)]
    for mark in ("**", "__", "`", "$$", '"', "”"):
        if answer.count(mark) == 1 and (answer.startswith(mark) or answer.endswith(mark)):
            return answer.replace(mark, "", 1)
    if answer.count("$") - answer.count(r"\$") == 1 and (answer[-1:] == "$" or answer[:1] == "$"):
        return answer.strip("$") if not answer.endswith(r"\$") else answer[1:]
    return answer


def _keeps_last(answer: str) -> bool:
    if answer[-1] == "." and re.search(r"\d\.$", answer):
        return False
    if answer.endswith("\\" + answer[-1]) and answer[-1] in ",;:!":
        return True
    return answer[-1] in ".!" and _KEEPS_STOP.search(answer[-12:]) is not None


def _trim_spacing_at_end(answer: str) -> str:
    while True:
        shorter = re.sub(r"(?:\\[,;!: ]|\\quad|\\qquad|(?<!\\)~|\\\\)$", "", answer[-12:])
        if len(shorter) == len(answer[-12:]):
            return answer
        answer = (answer[:-12] + shorter).rstrip()


def _wraps(answer: str, opener: str, closer: str) -> bool:
    if len(answer) <= len(opener) + len(closer) - ((opener == closer and 1) or 0):
        return False
    if not (answer.startswith(opener) and answer.endswith(closer)):
        return False
    inside = answer[len(opener) : len(answer) - len(closer)]
    if opener == "$" and (inside.startswith("$") or inside.endswith("\\")):
        return False
    return opener not in inside.replace(r"\$", "") and closer not in inside.replace(r"\$", "")


def drop_lead_words(answer: str) -> str:
    """Take words that only lead on to the value ("approximately", "equal to", "=") off the front."""
    lead = _APPROXIMATELY.match(answer)
    return answer[lead.end() :].lstrip() if lead and lead.end() < len(answer) else answer


def drop_answer_words(content: str) -> str:
    r"""Take "The answer is" off a box's content, in ``\text{}`` or bare, unless "not" follows."""
    wrapped = _WORDS_IN_TEXT.match(content)
    if wrapped:
        rest = wrapped["rest"].strip()
        after = content[wrapped.end() :].strip()
        if rest.lower() == "not" or (not rest and not after):
            return content
        return f"{rest} {after}".strip() if rest and after else rest or after
    plain = _PLAIN_WORDS.match(content) or _DESCRIPTION.match(content)
    return content[plain.end() :].strip() or content if plain else content
