"""Unit words in, one unit out: what it measures, to which power, and how many base units it holds."""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction
from functools import lru_cache

_LENGTH_MM = {
    "mm millimeter millimetre": "1", "cm centimeter centimetre": "10", "dm decimeter decimetre": "100",
    "m meter metre": "1000", "km kilometer kilometre": "1000000", "in inch inche": "25.4",
    "ft foot feet": "304.8",
    "yd yard": "914.4", "mi mile": "1609344",
}  # fmt: skip
_TIME_S = {
    "s sec second": "1", "min minute": "60", "h hr hour": "3600", "day": "86400", "week wk": "604800",
    "ms millisecond": "0.001",
}  # fmt: skip
_MASS_MG = {
    "mg milligram": "1", "g gram gm": "1000", "kg kilogram kilo": "1000000", "t ton tonne": "1000000000",
    "oz ounce": "28349.523125", "lb lbs pound": "453592.37",
}  # fmt: skip
_VOLUME_ML = {
    "ml milliliter millilitre mL": "1", "l L liter litre": "1000", "gallon gal": "3785.411784",
    "quart qt": "946.352946", "pint pt": "473.176473", "cup": "236.5882365",
}  # fmt: skip
_MONEY = {"cent ¢ penny pennie": "1", "dollar usd buck": "100"}
_ANGLE = {"degree deg °": "1"}
_ALONE = {
    "euro eur": "euro", "pounds sterling": "pound sterling", "rad radian": "radian", "month mo": "month",
    "year yr": "year", "unit": "unit", "percent pct": "percent", "mph": "mile/hour",
    "kph kmh": "kilometer/hour",
    "lire lira": "lira", "yuan": "yuan", "rupee": "rupee", "joule j": "joule", "newton n": "newton",
    "watt w": "watt",
    "volt v": "volt", "calorie cal": "calorie", "kcal": "kcal", "celsius": "celsius",
    "fahrenheit": "fahrenheit",
    "rupees": "rupee", "yen": "yen", "peso": "peso", "acre": "acre", "hectare ha": "hectare",
    "liter/min": "flow",
}  # fmt: skip


@dataclass(frozen=True)
class Unit:
    """A unit: ``measures`` are its dimensions with their powers, ``scale`` how many base units it is."""

    measures: tuple[tuple[str, int], ...]
    scale: Fraction = Fraction(1)


def _vocabulary() -> dict[str, tuple[str, Fraction]]:
    found: dict[str, tuple[str, Fraction]] = {}
    tables = (("length", _LENGTH_MM), ("time", _TIME_S), ("mass", _MASS_MG), ("volume", _VOLUME_ML),
              ("money", _MONEY), ("angle", _ANGLE))  # fmt: skip
    for measure, table in tables:
        for words, scale in table.items():
            found.update({word: (measure, Fraction(scale)) for word in words.split()})
    for words, measure in _ALONE.items():
        found.update({word: (measure, Fraction(1)) for word in words.split()})
    return found


_VOCABULARY = _vocabulary()
_PART = re.compile(r"(?P<word>[A-Za-z¢°]+)\.?(?:\s*\^?\s*\{?\s*(?P<power>-?\d)\s*\}?)?$")
# One letter alone is a unit only where no variable can be meant.
UNIT_LETTERS = frozenset("msghL")
_SQUARED = {"square": 2, "sq": 2, "squared": 2, "cubic": 3, "cu": 3, "cubed": 3}


def measured(word: str) -> tuple[str, Fraction] | None:
    """Return what a unit's word measures and its scale, or None for a word that is no unit."""
    for spelling in (word, word.lower()):
        for stem in (spelling, spelling[:-1] if spelling.endswith("s") and len(spelling) > 2 else spelling):
            if stem in _VOCABULARY:
                return _VOCABULARY[stem]
    return None


@lru_cache(maxsize=512)
def read_unit(phrase: str) -> Unit | None:
    """Read a unit phrase such as ``inches per second``, ``sq. in.`` or ``cm^{2}``; None if it is none."""
    phrase = re.sub(r"\bper\b", "/", phrase.replace("~", " "))
    phrase = re.sub(r"\s*\^\s*", "^", phrase).replace("{", "").replace("}", "")
    powers: dict[str, int] = {}
    scale = Fraction(1)
    for index, side in enumerate(phrase.split("/")):
        direction = 1 if index == 0 else -1
        found = _side(side)
        if found is None:
            return None
        for measure, factor, power in found:
            powers[measure] = powers.get(measure, 0) + direction * power
            scale *= factor ** (direction * power)
    return Unit(tuple(sorted((measure, power) for measure, power in powers.items() if power)), scale)


def _side(side: str) -> list[tuple[str, Fraction, int]] | None:
    """Read the units multiplied on one side of ``per``."""
    found: list[tuple[str, Fraction, int]] = []
    pending = 1
    for word in re.split(r"[\s*]+", side.strip(" .")):
        plain = word.strip(".").lower()
        if plain in _SQUARED:
            if plain.endswith("ed") and found:
                measure, factor, power = found[-1]
                found[-1] = (measure, factor, power * _SQUARED[plain])
            else:
                pending = _SQUARED[plain]
            continue
        match = _PART.match(word)
        unit = measured(match["word"]) if match else None
        if not match or unit is None:
            return None
        found.append((*unit, int(match["power"] or 1) * pending))
        pending = 1
    return found or None


def is_unit_word(word: str) -> bool:
    """Tell whether a word is a unit or a word that belongs to one."""
    return word.strip(".").lower() in _SQUARED or word == "per" or measured(word.strip(".")) is not None
