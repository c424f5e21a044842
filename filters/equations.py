"""One mathematical expression comes in; what it comes to goes out: the end of a chain, a last row."""

from __future__ import annotations

import re
from collections.abc import Sequence

_ROWS = re.compile(
    r"^\s*\\begin\{(?P<env>aligned|align|gather|gathered|split|eqnarray|multline|equation"
    r"|alignat)(?P<star>\*?)\}(?:\{\d\})?(?P<body>.*?)(?:\\end\{(?P=env)(?P=star)\}\s*[.,]?\s*|)$",
    re.DOTALL,
)
_TOKEN = re.compile(
    r"(?P<begin>\\begin\{[^{}]*\})|(?P<finish>\\end\{[^{}]*\})|(?P<row>\\\\(?:\[[^\]\n]{1,10}\])?)"
    r"|(?P<arrow>\\(?:implies|Rightarrow|Longrightarrow|iff|Leftrightarrow|Longleftrightarrow"
    r"|therefore)(?![A-Za-z])|⇒|⟹|⇔|=>|∴)|(?P<approx>\\(?:approx|simeq|sim|doteq)(?![A-Za-z])|≈)"
    r"|(?P<order><=|>=|[<>≤≥≠∈≡]|\\(?:leq?|geq?|leqslant|geqslant|lt|gt|neq?|in|equiv|subseteq"
    r"|mid)(?![A-Za-z])|\\not=|!=)|(?P<equal>(?:\\stackrel\{[^{}]*\}\{=\}|:=|==|=))|(?P<join>\\(?:text"
    r"|mbox|textrm)\s*\{\s*,?\s*(?:and|or|y|und|et|ou)\s*\}|\\q?quad|\\(?:lor|vee|land)(?![A-Za-z])"
    r"|(?<=\s)(?:and|or)(?=\s)|[,;](?=[\s\\]|[A-Za-z](?:_\w)?\s*=))|(?P<open>\\left\s*\\?.|\\\{|[({\[])"
    r"|(?P<close>\\right\s*\\?.|\\\}|[)}\]])|(?P<amp>&)|(?P<skip>\\[A-Za-z]+|\\.)",
    re.DOTALL,
)
_REASON = re.compile(
    r"(?:\\q?quad|\\[,;: ]|\s|,)*\\(?:text|mbox|textrm)\s*\{\s*[,(]?\s*(?:since|because|as|where|by|from"
    r"|which|if|when|using)\b.*$",
    re.DOTALL,
)
_SUPERSCRIPT = re.compile(r"[\^_]\s*(?:\{[^{}]*\}|\\?\w|−?\d)|[²³¹⁰⁴-⁹₀-₉]")
_COMMAND = re.compile(
    r"\\(?:left|right|mathbf|mathrm|vec|hat|bar|overline|overrightarrow|angle|triangle|displaystyle|big"
    r"|Big|bigg|Bigg|,|;|!|:| )"
)
_WORDS = re.compile(
    r"\\(?:text|mbox|mathrm|operatorname|textbf)\w*\s*\{[^{}]*[A-Za-z]{2,}[^{}]*\}"
    r"|(?<![\\A-Za-z])[A-Za-z]{3,}"
)
_APPLICATION = re.compile(
    r"\s*(?:\\?[A-Za-z]+'*|\\\w+\{\w+\})(?:\^\{?[-−]?\w+\}?|_\{?\w+\}?)*\s*(?:\\left)?[(\[].*[)\]]\s*$",
    re.DOTALL,
)
_LETTER_COMMANDS = re.compile(
    r"\\(?:theta|alpha|beta|gamma|delta|phi|varphi|lambda|omega|rho|sigma|mu|epsilon|varepsilon|psi|tau"
    r"|ell)(?![A-Za-z])"
)
_POLYNOMIAL = re.compile(r"(?:[\d\sA-Za-z+\-−*/^{}().,²³]|\\(?:cdot|times|left|right|,|;|!| ))*")
_ANY_COMMAND = re.compile(r"\\[A-Za-z]+")


def result_of(body: str, *, keep_assignment: bool = False, exact: bool = True) -> str:
    r"""Return what ``body`` comes out to.

    The last row of a display, what follows the last arrow, the right end of a chain of equalities; the exact
    value before an approximation. An equation that is itself a statement ("2x + 3 = 7", "y = 2x + 3",
    "x > 5") stays whole, and with ``keep_assignment`` so does "x = 5". Of "A \approx 1.4" where A is no name,
    A is taken where ``exact``, else 1.4: then A is what was asked. Empty where a chain breaks off.
    """
    body = _REASON.sub("", body).strip().strip("$").strip()
    rows = _ROWS.match(body)
    if rows:
        body = rows["body"].strip()
    parts = [part for part in _split(body, ("row",)) if part.strip(" &\n\t.,;")]
    if len(parts) > 1 and all(_assigns(part) for part in parts):
        return ", ".join(_clean(_value(part, False, exact)) for part in parts)
    last = parts[-1] if parts else body
    last = "".join(_split(last, ("amp",)))
    arrows = _split(last, ("arrow",))
    last = arrows[-1]
    alternatives = [part for part in _split(last, ("join",)) if part.strip()]
    if len(alternatives) > 1 and all(_assigns(part) for part in alternatives):
        return ", ".join(_clean(_value(part, False, exact)) for part in alternatives)
    return _clean(_value(last, keep_assignment, exact))


def is_symbol(body: str) -> bool:
    """Say whether ``body`` only names something ("x", "AB", "f(x)", "\\triangle ABC") and gives no value."""
    bare = _LETTER_COMMANDS.sub("x", _COMMAND.sub("", body))
    bare = re.sub(r"_\{?\w{1,3}\}?", "", bare).strip()
    return bool(
        re.fullmatch(
            r"[A-Za-z]'?(?:\s*\([a-z](?:\s*,\s*[a-z])*\))?|[A-Z]{2,4}|[a-z]|\{[A-Z]{1,3}\}|\\circ", bare
        )
    ) and not (bare in ("i", "e") and body.strip() == bare)


def _split(text: str, kinds: Sequence[str]) -> list[str]:
    """Split at tokens of ``kinds`` that stand outside brackets and environments."""
    parts: list[str] = []
    depth = environments = position = 0
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup or ""
        if kind == "begin":
            environments += 1
        elif kind == "finish":
            environments = max(0, environments - 1)
        elif kind == "open":
            depth += 1
        elif kind == "close":
            depth = max(0, depth - 1)
        elif kind in kinds and environments == 0 and (depth == 0 or kind == "row"):
            parts.append(text[position : token.start()])
            position = token.end()
    parts.append(text[position:])
    return parts


def _relations(text: str) -> list[tuple[str, str]]:
    """Return the sides of a chain, each with the kind of sign before it ("" for the first)."""
    sides: list[tuple[str, str]] = []
    depth = environments = position = 0
    kind_before = ""
    for token in _TOKEN.finditer(text):
        kind = token.lastgroup or ""
        if kind in ("begin", "finish"):
            environments += 1 if kind == "begin" else -1
        elif kind in ("open", "close"):
            depth = max(0, depth + (1 if kind == "open" else -1))
        elif kind in ("equal", "approx", "order") and depth == 0 and environments <= 0:
            sides.append((kind_before, text[position : token.start()].strip()))
            kind_before, position = (token.group().strip() if kind == "order" else kind), token.end()
    sides.append((kind_before, text[position:].strip()))
    return sides


def _assigns(part: str) -> bool:
    sides = _relations(part)
    return len(sides) > 1 and sides[-1][0] == "equal" and _names(sides[0][1])


def _value(text: str, keep_assignment: bool, exact_side: bool) -> str:
    sides = _relations(text)
    if len(sides) == 1:
        return text
    exact: list[str] = [sides[0][1]]
    for kind, side in sides[1:]:
        if kind == "equal":
            exact.append(side)
            continue
        if kind == "approx":
            if len(exact) > 1 or (exact_side and exact[0] and not _names(exact[0])):
                break
            exact.append(side)
            continue
        if kind in ("∈", r"\in") and len(sides) == 2 and is_symbol(exact[0]):
            return side
        if len(exact) > 1 and exact[-1] and kind not in ("≡", r"\equiv"):
            break
        if kind in ("≡", r"\equiv") and not _letters(exact[0]):
            return re.split(r"\\p?mod|\(mod|\bmod\b", side)[0]
        return text
    return _right_end(exact, text, keep_assignment)


def _right_end(sides: list[str], text: str, keep_assignment: bool) -> str:
    first, last = sides[0], sides[-1]
    if len(sides) == 1:
        return first
    if not first:
        return last
    if last and is_symbol(last) and not _letters(first):
        return first
    if len(sides) == 2 and not _letters(first) and _letters(last) and not _WORDS.search(last):
        return text
    if len(sides) > 2 and (_names(first) or not _is_equation(first, last)):
        return last
    if keep_assignment and is_symbol(first):
        return text
    if len(sides) == 2 and _is_equation(first, last):
        return text
    return last


def _names(side: str) -> bool:
    """Say whether ``side`` names a value: a letter, words, a function at a point, a geometric quantity."""
    if _WORDS.search(side) or is_symbol(side) or _APPLICATION.match(side):
        return True
    return bool(_letters(side)) and not re.search(r"\d", _SUPERSCRIPT.sub("", side))


def _letters(side: str) -> set[str]:
    bare = _LETTER_COMMANDS.sub(" t ", _COMMAND.sub(" ", side))
    bare = _ANY_COMMAND.sub(" ", _WORDS.sub(" ", bare))
    return set(re.findall(r"[A-Za-z]", bare)) - {"e", "i"}


def _is_equation(left: str, right: str) -> bool:
    """Say whether "left = right" is an equation to be kept whole rather than a value with its name."""
    if _WORDS.search(left) or _APPLICATION.match(left):
        return False
    letters = _letters(left)
    if not letters:
        return False
    if not _POLYNOMIAL.fullmatch(left):
        return False
    if "(" in left and _letters(right) and len(left) > len(right):
        # An identity that ends in the simpler side: "(x+3)(2x-6) = 2x^2 - 18".
        return False
    if is_symbol(left):
        return left.strip() in ("y", "z") and bool(_letters(right) - {left.strip()})
    coordinates = letters <= {"x", "y", "z"}
    if re.search(r"\d", _SUPERSCRIPT.sub("", left)):
        return len(letters) == 1 or (coordinates and "(" not in left)
    return (coordinates and bool(_SUPERSCRIPT.search(left))) or (
        coordinates and bool(_letters(right) & {"x", "y", "z"})
    )


def _clean(value: str) -> str:
    kept = value if "\\begin" in value else value.replace("&", "")
    return kept.strip(" \n\t,;")
