"""The text of a Python literal in, its value out; large lists by the JSON scanner, which is far faster than
the compiler.
"""

from __future__ import annotations

import ast
import json
import re
from typing import Any

_WORDS = {"True": "true", "False": "false", "None": "null"}
_TOKEN = re.compile(r"""'(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|True|False|None""")
_JSON_OUTSIDE_TEXT = re.compile(r"[\[\],\s0-9eE+\-.]*")


def read_literal(text: str) -> Any:
    """Evaluate a literal of lists, numbers, texts, True, False and None quickly; any other literal the slow
    way.
    """
    outside = _TOKEN.sub("", text)
    if _JSON_OUTSIDE_TEXT.fullmatch(outside):
        try:
            return json.loads(_TOKEN.sub(_as_json, text))
        except ValueError:
            pass  # not JSON after all: a comma at the end, a prefix, texts side by side
    return ast.literal_eval(text)


def _as_json(token: re.Match[str]) -> str:
    text = token.group()
    word = _WORDS.get(text)
    if word is not None:
        return word
    inner = text[1:-1]
    if "\\" not in inner and '"' not in inner and inner.isprintable():
        return f'"{inner}"'
    return json.dumps(ast.literal_eval(text))
