"""LaTeX from a model in, harmless MathML out: only known elements and attributes, no link, no script."""

from __future__ import annotations

import re
from functools import lru_cache
from html import escape
from xml.etree import ElementTree

LENGTH_MOST = 600
IN_TEXT = re.compile(r"\\\[(?P<block>.{1,600}?)\\\]|\$(?P<inner>[^$\n]{1,600})\$", re.DOTALL)
NAMESPACE = "{http://www.w3.org/1998/Math/MathML}"
ELEMENTS = frozenset(
    (
        "math", "mrow", "mi", "mn", "mo", "ms", "mtext", "mspace", "mfrac", "msqrt", "mroot", "msub",
        "msup", "msubsup", "munder", "mover", "munderover", "mmultiscripts", "mprescripts", "none",
        "mtable", "mtr", "mtd", "mpadded", "mphantom", "mstyle", "menclose", "merror",
    )
)  # fmt: skip
ATTRIBUTES = frozenset(
    (
        "display", "mathvariant", "stretchy", "fence", "form", "separator", "accent", "accentunder",
        "linethickness", "columnalign", "rowspacing", "columnspacing", "columnlines", "rowlines",
        "notation", "width", "height", "depth", "lspace", "rspace", "minsize", "maxsize",
        "displaystyle", "scriptlevel", "movablelimits", "symmetric", "largeop",
    )
)  # fmt: skip


@lru_cache(maxsize=8_192)
def mathml(latex: str) -> str | None:
    """Render a formula as inline MathML; None where it cannot be, so that the raw text stands alone."""
    text = latex.strip().strip("$").strip()
    if not text or len(text) > LENGTH_MOST:
        return None
    from latex2mathml.converter import convert

    try:
        tree = ElementTree.fromstring(convert(text))
    except Exception:  # the library raises many kinds on text that is no LaTeX
        return None
    return ElementTree.tostring(tree, encoding="unicode") if _clean(tree) else None


def text_with_formulas(text: str) -> str:
    """Write a text as HTML with the formulas between its dollar signs rendered; all else is escaped."""
    parts, end = [], 0
    for found in IN_TEXT.finditer(text):
        made = mathml(found["inner"] or found["block"] or "")
        if made is not None:
            parts += [escape(text[end : found.start()]), made]
            end = found.end()
    return "".join([*parts, escape(text[end:])])


def _clean(tree: ElementTree.Element) -> bool:
    """Strip namespaces and attributes that are not known; False where an element is not."""
    for element in tree.iter():
        element.tag = element.tag.removeprefix(NAMESPACE)
        if element.tag not in ELEMENTS:
            return False
        for name in list(element.attrib):
            if name not in ATTRIBUTES or ":" in element.attrib[name]:
                del element.attrib[name]
    return True
