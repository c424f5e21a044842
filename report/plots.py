"""Numbers in, inline SVG out: x in percent and y in pixels, so that text keeps its size on a phone."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from markupsafe import Markup, escape

from .statistics import Interval

MIX_COLOURS = 8


@dataclass(frozen=True)
class Scale:
    """A linear scale from ``low`` to ``high`` onto 0% to 100% of the width."""

    low: float
    high: float

    def at(self, value: float) -> str:
        """Give the place of a value as SVG writes it."""
        share = (value - self.low) / (self.high - self.low)
        return f"{100 * min(1.0, max(0.0, share)):.2f}%"

    def ticks(self) -> list[float]:
        """Give a handful of round values inside the scale."""
        rough = (self.high - self.low) / 5
        power = 10 ** math.floor(math.log10(rough))
        step = next(power * part for part in (1, 2, 2.5, 5, 10) if power * part >= rough)
        first = math.ceil(self.low / step - 1e-9)
        return [round(step * place, 10) for place in range(first, math.floor(self.high / step + 1e-9) + 1)]


SHARES = Scale(0.0, 1.0)


def around_zero(intervals: Sequence[Interval]) -> Scale:
    """Choose a scale that is the same on both sides of zero and holds every interval."""
    ends = [abs(end) for one in intervals for end in (one.low, one.high, one.value) if not math.isnan(end)]
    reach = 1.08 * max([0.02, *ends])
    return Scale(-reach, reach)


def _grid(scale: Scale, height: int) -> str:
    return "".join(
        f'<line class="{"zero" if tick == 0 and scale.low < 0 else "gridline"}" x1="{scale.at(tick)}" '
        f'x2="{scale.at(tick)}" y1="0" y2="{height}"/>'
        for tick in scale.ticks()
    )


def interval_track(one: Interval, scale: Scale, description: str, *, ring: float | None = None) -> Markup:
    """Draw a dot with its interval, and a ring where another value stands."""
    bar = ""
    if not math.isnan(one.low):
        bar = f'<line class="bar" x1="{scale.at(one.low)}" x2="{scale.at(one.high)}" y1="12" y2="12"/>'
    dot = f'<circle class="dot" cx="{scale.at(one.value)}" cy="12" r="4.5"/>'
    mark = "" if ring is None else f'<circle class="ring" cx="{scale.at(ring)}" cy="12" r="4"/>'
    drawn = f"{_grid(scale, 24)}{bar}{mark}{dot}"
    return Markup(f'<svg role="img" aria-label="{escape(description)}">{drawn}</svg>')


def axis(scale: Scale, *, signed: bool = False) -> Markup:
    """Draw the numbers under the tracks, in percent or signed points."""
    parts = []
    for tick in scale.ticks():
        number = f"{100 * tick:+g}".replace("-", "−") if signed and tick else f"{100 * tick:g}"
        place = scale.at(tick)
        anchor = "start" if place == "0.00%" else "end" if place == "100.00%" else "middle"
        parts.append(f'<text x="{place}" y="12" text-anchor="{anchor}">{number}</text>')
    return Markup(f'<svg class="axis" aria-hidden="true">{"".join(parts)}</svg>')


def ladder_track(before: float | None, after: float, description: str) -> Markup:
    """Draw one rung: a bar up to the score, and what was lost or gained since the rung before."""
    low = after if before is None else min(before, after)
    bars = f'<rect class="rung" x="0" width="{SHARES.at(low)}" y="5" height="14" rx="2"/>'
    if before is not None and before != after:
        kind = "fall" if after < before else "rise"
        width = SHARES.at(abs(after - before))
        bars += f'<rect class="{kind}" x="{SHARES.at(low)}" width="{width}" y="5" height="14"/>'
    return Markup(f'<svg role="img" aria-label="{escape(description)}">{_grid(SHARES, 24)}{bars}</svg>')


def heat_row(cells: Sequence[float], names: Sequence[str], height: int, description: str) -> Markup:
    """Draw one row of problems, coloured by the share of samples that passed; a hover names the problem.

    Neighbours of equal share are one shape; NaN (no verdict) stands out.
    """
    shapes, start = [], 0
    for place in range(1, len(cells) + 1):
        same = place < len(cells) and (cells[place] == cells[start] or _both_nan(cells[place], cells[start]))
        if not same:
            shapes.append(_heat_shape(cells[start], start, place - start))
            start = place
    hovers = "".join(
        f'<rect class="over" x="{place}" width="1" y="0" height="1">'
        f"<title>{escape(name)}: {_said(cell)}</title></rect>"
        for place, (name, cell) in enumerate(zip(names, cells, strict=True))
    )
    return Markup(
        f'<svg role="img" aria-label="{escape(description)}" viewBox="0 0 {len(cells)} 1" height="{height}" '
        f'preserveAspectRatio="none" shape-rendering="crispEdges">{"".join(shapes)}{hovers}</svg>'
    )


def _both_nan(first: float, second: float) -> bool:
    return math.isnan(first) and math.isnan(second)


def _heat_shape(cell: float, start: int, width: int) -> str:
    if cell == 0:
        return ""
    place = f'x="{start}" width="{width}" y="0" height="1"'
    if math.isnan(cell):
        return f'<rect class="hole" {place}/>'
    strength = "" if cell == 1 else f' fill-opacity="{0.15 + 0.85 * cell:.2f}"'
    return f'<rect class="pass" {place}{strength}/>'


def _said(cell: float) -> str:
    if math.isnan(cell):
        return "no verdict"
    return {0.0: "failed", 1.0: "passed"}.get(cell, f"{100 * cell:.0f}% passed")


def mix_bar(shares: Sequence[tuple[str, float]], places: Sequence[str]) -> Markup:
    """Draw shares that add up to 1 as one bar; the colour of a name is its place in ``places``."""
    parts, left = [], 0.0
    for name, share in shares:
        colour = min(places.index(name), MIX_COLOURS - 1)
        parts.append(
            f'<rect x="{100 * left:.2f}%" width="{100 * share:.2f}%" y="0" height="20" '
            f'fill="var(--mix-{colour})">'
            f"<title>{escape(name)}: {100 * share:.1f}%</title></rect>"
        )
        left += share
    said = ", ".join(f"{name} {100 * share:.0f}%" for name, share in shares)
    return Markup(f'<svg role="img" aria-label="{escape(said)}">{"".join(parts)}</svg>')


def curve_plot(upper: Sequence[Interval], lower: Sequence[Interval]) -> Markup:
    """Draw pass@k and pass^k over k (on a logarithmic scale) with their bands."""
    ks = range(1, len(upper) + 1)
    reach = math.log(len(upper)) or 1.0
    places = [100 * math.log(k) / reach for k in ks]
    grid = "".join(
        f'<line class="gridline" x1="0" x2="100%" y1="{y}%" y2="{y}%"/>'
        f'<text x="0" y="{y}%" dy="{-3 if y else 10}">{100 - y}</text>'
        for y in (0, 25, 50, 75, 100)
    )
    drawn = "".join(_curve(points, places, kind) for points, kind in ((upper, ""), (lower, " two")))
    inner = f'<svg viewBox="0 0 100 100" preserveAspectRatio="none" width="100%" height="100%">{drawn}</svg>'
    return Markup(f'<svg role="img" aria-label="pass@k and pass^k over k">{grid}{inner}</svg>')


def _curve(points: Sequence[Interval], places: Sequence[float], kind: str) -> str:
    def path(values: Sequence[float], xs: Sequence[float]) -> str:
        return " ".join(f"{x:.2f},{100 * (1 - value):.2f}" for x, value in zip(xs, values, strict=True))

    top = path([one.high for one in points], places)
    bottom = path([one.low for one in reversed(points)], list(reversed(places)))
    line = path([one.value for one in points], places)
    return (
        f'<polygon class="band{kind}" points="{top} {bottom}"/><polyline class="path{kind}" points="{line}"/>'
    )
