"""An answer as a model wrote it in, the same in one spelling out: Unicode, Markdown and wrappers resolved."""

from __future__ import annotations

import re
import unicodedata

LONGEST_ANSWER = 4000

_SUPERSCRIPTS = dict(zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁺⁻⁼⁽⁾ⁿⁱ", "0123456789+-=()ni", strict=True))
_SUBSCRIPTS = dict(zip("₀₁₂₃₄₅₆₇₈₉₊₋₌₍₎ₙₐₑₓ", "0123456789+-=()naex", strict=True))
_QUOTIENTS = "12 13 23 14 34 15 25 35 45 16 56 18 38 58 78"
_VULGAR = dict(zip("½⅓⅔¼¾⅕⅖⅗⅘⅙⅚⅛⅜⅝⅞", _QUOTIENTS.split(), strict=True))
_GREEK = (
    "αalpha βbeta γgamma δdelta εepsilon ζzeta ηeta θtheta ιiota κkappa λlambda μmu νnu ξxi πpi ρrho σsigma "
    "τtau υupsilon φphi χchi ψpsi ωomega ϕphi ϑtheta ϵepsilon ΓGamma ΔDelta ΘTheta ΛLambda ΞXi ΠPi ΣSigma "
    "ΦPhi ΨPsi ΩOmega"
)
_SIGNS = {
    "−–—‒﹣‐‑": "-", "×✕✖": "\\times ", "·⋅•∙∗": "\\cdot ", "÷": "\\div ", "∕⁄": "/",
    "≤⩽≦": "\\le ", "≥⩾≧": "\\ge ", "≠": "\\ne ", "≈≃≅": "\\approx ", "≡": "\\equiv ",
    "±": "\\pm ", "∓": "\\mp ", "∞": "\\infty ", "∪": "\\cup ", "∩": "\\cap ", "∈": "\\in ",
    "∅⌀": "\\emptyset ", "√": "\\surd ", "∛": "\\cbrt ", "°º˚": "^\\circ ", "′’‘ʹ": "'", "″“”„": '"',
    "…⋯": "\\ldots ", "ℝ": "\\mathbb{R}", "ℤ": "\\mathbb{Z}", "ℕ": "\\mathbb{N}", "ℚ": "\\mathbb{Q}",
    "⌈": "\\lceil ", "⌉": "\\rceil ", "⌊": "\\lfloor ", "⌋": "\\rfloor ", "∖": "\\setminus ",
    "⟨〈": "\\langle ", "⟩〉": "\\rangle ", "∠": "\\angle ", "△": "\\triangle ", "∨": "\\lor ",
    "∧": "\\land ",
    "\u00a0\u2009\u202f\u2002\u2003\u2005\u2006\u2007\u2008\u200a\u3000": " ",
    "∀": "\\forall ", "∃": "\\exists ", "\u200b\u200c\u200d\u2060\ufeff\u2061\u2062": "",
    "¢": "\\cent ", "€": "\\euro ", "£": "\\pound ",
}  # fmt: skip
_TABLE = str.maketrans(
    {sign: spelling for signs, spelling in _SIGNS.items() for sign in signs}
    | {chr(0x2460 + index): f" {index + 1}, " for index in range(20)}
    | {sign: f"\\frac{{{pair[0]}}}{{{pair[1]}}}" for sign, pair in _VULGAR.items()}
    | {word[0]: f"\\{word[1:]} " for word in _GREEK.split()}
)
_RUN_ABOVE = re.compile(f"[{''.join(_SUPERSCRIPTS)}]+")
_RUN_BELOW = re.compile(f"[{''.join(_SUBSCRIPTS)}]+")
_WIDE = re.compile("[\uff01-\uff5e]")

_HTML_POWER = re.compile(r"<sup>(.*?)</sup>")
_HTML_INDEX = re.compile(r"<sub>(.*?)</sub>")
_LEAD_IN = re.compile(
    r"^\s*(?:therefore|thus|so|hence)?,?\s*(?:the\s+)?(?:final\s+|correct\s+)?(?:answer|solution|result)"
    r"(?:\s+is)?\s*(?::|=|\s(?=[\\$\d(\[-])|(?<=is)\s)\s*",
    re.IGNORECASE,
)
_WRAPPED = re.compile(
    r"^\\(?:boxed|fbox|mathbf|boldsymbol|bm|textbf|mathrm|text|mbox|textrm|mathit|textit|displaystyle|emph"
    r"|underline|ensuremath|mathsf|color\{\w+\}|textcolor\{\w+\})\s*(?=\{)"
)
_STYLE = re.compile(r"^\\(?:displaystyle|textstyle|large|Large|bf|rm|it)(?![a-zA-Z])\s*")
_CONCLUSION = re.compile(
    r"^(?:\\(?:therefore|Rightarrow|implies|Longrightarrow|to)(?![a-zA-Z])|=>|->"
    r"|(?:the|its|their|this|these|our)\s[\w\s$\\{}]{0,60}?\b(?:is|are|equals?)(?:\s+equal\s+to)?:?\s+(?=[\\$\d(\[{.-]))\s*",
    re.IGNORECASE,
)
_TIMES_TEN = re.compile(r"(?<=\d)\s*[xX]\s*(?=10\s*(?:\^|\*\*))")
_STRAY_POINT = re.compile(r"(?<=[\d}])\.(?=\s*(?:\\right)?\s*[\])])")
_KEEPS_BRACES = re.compile(r",|\\(?:over|choose|atop)(?![a-zA-Z])")
_LOST_ROW_END = re.compile(r"(?<!\\)\\(?=[-\d])")
_TRAILING = re.compile(r"(?:\s|\\\s*$|\\[,;:!]|\\q?quad|~|(?<!\\)[.,;]|\\text\{\s*[.,;]?\s*\})+$")


def clean_answer(text: str) -> str:
    """Return ``text`` in the spelling that the tokenizer knows, without what only wraps the answer."""
    if "\\begin" not in text:
        text = re.sub(r"\\\\(?=[a-zA-Z])", r"\\", text)
    else:
        text = _LOST_ROW_END.sub(r"\\\\ ", text)
    text = _HTML_INDEX.sub(r"_{\1}", _HTML_POWER.sub(r"^{\1}", text))
    text = _TIMES_TEN.sub(r" \\times ", plain_spelling(text))
    for _ in range(8):
        before = text
        text = _unwrapped(text.strip())
        if text == before:
            break
    return text


def plain_spelling(text: str) -> str:
    """Replace the signs that Unicode has for mathematics by LaTeX or ASCII."""
    text = _WIDE.sub(lambda match: unicodedata.normalize("NFKC", match[0]), text)
    text = _RUN_ABOVE.sub(lambda match: "^{" + "".join(_SUPERSCRIPTS[sign] for sign in match[0]) + "}", text)
    text = _RUN_BELOW.sub(lambda match: "_{" + "".join(_SUBSCRIPTS[sign] for sign in match[0]) + "}", text)
    return text.translate(_TABLE)


def _unwrapped(text: str) -> str:
    text = _without_delimiters(text)
    text = _TRAILING.sub("", text) if not text.endswith(("\\ldots", "...")) else text
    text = _LEAD_IN.sub("", text, count=1)
    for mark in ("**", "__", "`", '"', "``"):
        if len(text) > 2 * len(mark) and text.startswith(mark) and text.endswith(mark):
            text = text[len(mark) : -len(mark)]
    text = _STRAY_POINT.sub("", text)
    text = _STYLE.sub("", _CONCLUSION.sub("", text))
    if text.startswith("{") and closing_brace(text, 0) == len(text) - 1 and not _KEEPS_BRACES.search(text):
        text = text[1:-1]
    match = _WRAPPED.match(text)
    if match and closing_brace(text, match.end()) == len(text) - 1:
        text = text[match.end() + 1 : -1]
    if text.startswith("=") and not text.startswith("=="):
        text = text[1:]
    return text.strip()


def _without_delimiters(text: str) -> str:
    r"""Drop ``$``, ``\(`` and ``\[``; a dollar sign that pairs with nothing is money."""
    text = text.replace("\\$", "\\dollar ").replace("$$", "")
    text = text.replace("$", "\\dollar " if text.count("$") % 2 else " ")
    text = re.sub(r"\\[()]", " ", text)
    return re.sub(r"(?<!\\)\\[\[\]]", " ", text)


def closing_brace(text: str, start: int) -> int:
    """Return the place of the brace that closes the one at ``start``, or -1."""
    depth = 0
    place = start
    while place < len(text):
        sign = text[place]
        if sign == "\\":
            place += 1
        elif sign == "{":
            depth += 1
        elif sign == "}":
            depth -= 1
            if depth == 0:
                return place
        place += 1
    return -1
