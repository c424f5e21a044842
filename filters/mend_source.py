"""Text that should be Python comes in; the same program in a form that parses goes out."""

from __future__ import annotations

import ast
import html
import re
import textwrap
from collections.abc import Callable
from itertools import pairwise

from .source_lines import code_only, map_code

_PARSE_FAULTS = (SyntaxError, ValueError, RecursionError, MemoryError, OverflowError)

_INVISIBLE = re.compile(
    "[\u200b-\u200f\u2060\ufeff\u00ad\u202a-\u202e\u2066-\u2069\x00-\x08\x0e-\x1f\x7f]",
)
_ODD_SPACES = re.compile("[\u00a0\u1680\u2000-\u200a\u202f\u205f\u3000\x0b]")
_LINE_ENDS = re.compile("[\u2028\u2029\x85]")
_WIDE = {code: code - 0xFEE0 for code in range(0xFF01, 0xFF5F)} | dict.fromkeys(
    [0x2010, 0x2011, 0x2013, 0x2212], 0x2D
)
_ENTITY = re.compile(r"&(?:lt|gt|amp|quot|apos|nbsp|#\d{2,4}|#x[0-9a-fA-F]{2,4});")
_SINGLE_QUOTES = re.compile("[\u2018\u2019\u201a\u201b\u2032]")
_DOUBLE_QUOTES = re.compile("[\u201c\u201d\u201e\u201f\u2033]")
_PROMPT_LINE = re.compile(r"^[ \t]*(?:>>>|\.\.\.:?|In ?\[\d{0,4}\]:)(?: |$)")
_PROMPT_START = re.compile(r"^[ \t]*(?:>>>|In ?\[\d{0,4}\]:)", re.MULTILINE)
_STATEMENT = re.compile(r"^[ \t]*(?:async def|def|class)\b", re.MULTILINE)
_NUMBERED = re.compile(r"^[ \t]*(?P<number>\d{1,4})(?:[ \t]*[|:│.)]|(?=[ \t]|$))(?: |\t|$)?")
_ESCAPED_MARK = re.compile(r"\\(?=[_*\[\]()#+\-.<>`~|!{}])")
_WRITTEN_NEWLINE = re.compile(r"\\{1,4}n")
_ESCAPE = re.compile(r"\\u(00[2-7][0-9a-fA-F])")
_CONTINUATION_SPACE = re.compile(r"\\[ \t]+$", re.MULTILINE)
_WRAPPED = re.compile(r"\A\s*(?P<quote>[\"'`]{1,3})\s*(?=(?:def|class|import|from|async def)\b|@\w)")
_RESIDUE = " \t\n\"'`}],;"
_RESIDUES = 8
_LANGUAGE_LINE = re.compile(r"\A\s*(?:python3?|py|Python|copy code|Copy code|pythonCopy code)[ \t]*(?:\n|\Z)")


def parse(text: str) -> ast.Module | None:
    """Parse ``text``; None where Python cannot."""
    try:
        return ast.parse(text)
    except _PARSE_FAULTS:
        return None


def _clean_invisible(text: str) -> str:
    return map_code(text, lambda code: _INVISIBLE.sub("", code)).replace("\x00", "")


def _clean_spaces(text: str) -> str:
    return map_code(text, lambda code: _LINE_ENDS.sub("\n", _ODD_SPACES.sub(" ", code)))


def _narrow(text: str) -> str:
    """Write full-width marks and typographic dashes of code as Python knows them."""
    return map_code(text, lambda code: code.translate(_WIDE))


def _read_escapes(text: str) -> str:
    """Write characters of code that are spelled as escapes, such as ``\\u003c``."""
    return map_code(text, lambda code: _ESCAPE.sub(lambda match: chr(int(match[1], 16)), code))


def _unescape_html(text: str) -> str:
    for _ in range(2):  # some are escaped twice
        if not _ENTITY.search(code_only(text)):
            break
        text = html.unescape(text)
    return text


def _read_transcript(text: str) -> str:
    """Take the prompts off an interpreter session and drop what it printed."""
    lines = text.split("\n")
    if not _PROMPT_START.search(text) or _STATEMENT.search(text):
        return text  # no session, or one that only stands in a docstring
    return "\n".join(_PROMPT_LINE.sub("", line, count=1) for line in lines if _PROMPT_LINE.match(line))


def _read_diff(text: str) -> str:
    """Keep the new side of a diff."""
    lines = [line for line in text.split("\n") if not re.match(r"(?:\+\+\+|---|@@|diff |index )", line)]
    filled = [line for line in lines if line.strip()]
    if not any(line.startswith("+") for line in filled) or not all(line[0] in "+- \\" for line in filled):
        return text
    return "\n".join(line[1:] for line in lines if not line.startswith(("-", "\\")))


def _drop_line_numbers(text: str) -> str:
    """Take line numbers off the lines where every filled line bears the next one."""
    lines = text.split("\n")
    marks = [(line, _NUMBERED.match(line)) for line in lines if line.strip()]
    numbers = [int(mark["number"]) for _, mark in marks if mark]
    rising = all(earlier < later for earlier, later in pairwise(numbers))
    if len(numbers) != len(marks) or not rising or not numbers:
        return text
    return textwrap.dedent("\n".join(_NUMBERED.sub("", line, count=1) for line in lines))


def _write_out_newlines(text: str) -> str:
    """Turn a program whose newlines are spelled ``\\n`` into lines."""
    if "\\n" not in text:
        return text
    if text.strip().count("\n") > text.count("\\n"):
        return map_code(text, lambda code: _WRITTEN_NEWLINE.sub("\n", code))
    out = _WRITTEN_NEWLINE.sub("\n", text.replace("\\r", "")).replace("\\t", "\t")
    return re.sub(r"\\+([\"'])", r"\1", out)


def _unwrap(text: str) -> str:
    """Take off quotes around a whole program."""
    opened = _WRAPPED.match(text)
    if not opened:
        return text
    inner = text[opened.end() :].rstrip()
    return inner[: -len(opened["quote"])] if inner.endswith(opened["quote"]) else inner


def _drop_residue(text: str) -> str:
    """Take off closing marks of a JSON object or a string that the program was cut out of."""
    shorter = text.rstrip(' \t\n"}')
    for _ in range(_RESIDUES):
        if parse(shorter) is not None:
            return shorter
        if not text or text[-1] not in _RESIDUE:
            break
        text = text[:-1]
        shorter = text
    return text


def _drop_continuation_space(text: str) -> str:
    return _CONTINUATION_SPACE.sub(r"\\", text)


def _expand_tabs(text: str) -> str:
    return "\n".join(_expand_lead(line) for line in text.split("\n"))


def _expand_lead(line: str) -> str:
    lead = line[: len(line) - len(line.lstrip(" \t"))]
    return lead.expandtabs(8) + line[len(lead) :]


def _straighten_quotes(text: str) -> str:
    return _DOUBLE_QUOTES.sub('"', _SINGLE_QUOTES.sub("'", text))


def _unescape_markdown(text: str) -> str:
    return map_code(text, lambda code: _ESCAPED_MARK.sub("", code))


def _dedent(text: str) -> str:
    """Take the first line's indentation off the lines that have it."""
    first = next((line for line in text.split("\n") if line.strip()), "")
    lead = first[: len(first) - len(first.lstrip(" \t"))]
    if not lead:
        return text
    return "\n".join(line[len(lead) :] if line.startswith(lead) else line for line in text.split("\n"))


# In order; each is applied on top of the ones before it, until the text parses.
_MENDS: tuple[tuple[str, Callable[[str], str]], ...] = (
    ("invisible_characters", _clean_invisible),
    ("odd_spaces", _clean_spaces),
    ("indentation", _dedent),
    ("transcript", _read_transcript),
    ("diff", _read_diff),
    ("line_numbers", _drop_line_numbers),
    ("continuation_space", _drop_continuation_space),
    ("markdown_escapes", _unescape_markdown),
    ("wrapping_quotes", _unwrap),
    ("written_newlines", _write_out_newlines),
    ("tabs", _expand_tabs),
    ("typographic_quotes", _straighten_quotes),
    ("wide_marks", _narrow),
    ("written_characters", _read_escapes),
    ("residue", _drop_residue),
)
# Harmless to a text that still does not parse; the others are undone there.
_ALWAYS = (
    "invisible_characters",
    "odd_spaces",
    "indentation",
    "transcript",
    "continuation_space",
    "markdown_escapes",
)


def mend(text: str) -> tuple[str, ast.Module | None, tuple[str, ...]]:
    """Return the mended text, its tree (None where it does not parse) and the names of the mends."""
    done: list[str] = []
    without_label = _LANGUAGE_LINE.sub("", text, count=1)
    if without_label != text:
        text, done = without_label, ["language_line"]
    unescaped = _unescape_html(text)
    if unescaped != text:
        text, done = unescaped, [*done, "html_entities"]
    tree = parse(text)
    safe, safe_done = text, list(done)
    for name, change in _MENDS:
        if tree is not None:
            return text, tree, tuple(done)
        changed = change(text)
        if changed == text:
            continue
        text, done = changed, [*done, name]
        tree = parse(text)
        if name in _ALWAYS:
            safe, safe_done = changed, list(done)
    return (text, tree, tuple(done)) if tree is not None else (safe, None, tuple(safe_done))
