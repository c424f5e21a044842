"""Dataclasses of the report in, plain JSON values out: NaN becomes null, enums their value."""

from __future__ import annotations

import dataclasses
import json
import math
from collections.abc import Mapping
from enum import Enum
from typing import Any


def plain(value: object) -> Any:
    """Turn dataclasses, mappings, sequences, enums and NaN into what JSON has."""
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {field.name: plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, Mapping):
        return {str(key): plain(entry) for key, entry in value.items()}
    if isinstance(value, (list, tuple)):
        return [plain(entry) for entry in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None
    return value


def to_json(value: object) -> str:
    """Write a value as indented JSON."""
    return json.dumps(plain(value), indent=2, ensure_ascii=False)
