"""Kinds of charts, as Vega-Lite with their data inside: rows with intervals, curves with bands, stacked bars, heat maps.

A table has `method`, `value`, `low`, `high` and `count`; rows without a value are not drawn, and a table without any value has no chart.
"""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt
import polars as pl

from experiments.report.figures import PALETTE

Spec = dict[str, Any]
STEP = 34
"""Pixels of a row."""
HEIGHT = 260
"""Pixels of curves."""
LABELS = 260
"""Pixels that a row's label may take."""
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3])
"""Of methods' lines, beside their colours: told apart in print too."""
INK = "var(--ink)"
WIDTH = 480
"""Pixels that a chart has at least beside its labels, where two stand side by side."""
LETTER = 6.5
"""Pixels of a letter."""


def rows(
    table: pl.DataFrame, label: str, title: str, methods: Sequence[str] = (), told: str = "count",
    at: float | None = None, log: bool = False, share: bool = False,
) -> Spec | None:  # fmt: skip
    """A point for each row with its 95 % interval where it has one and `told` beside it; `at` draws the line of no difference."""
    data = known(table)
    if data.is_empty():
        return None
    scale = alt.Scale(type="log", domain=ratios(data), nice=False) if log else alt.Scale(domain=[0, 1]) if share else alt.Scale(zero=True)
    x = alt.X("value:Q", title=title, scale=scale, axis=alt.Axis(format="%") if share else alt.Axis())
    colour = by_method(methods, legend=False) if methods else alt.value(PALETTE[0])
    base = chart(data).encode(y=alt.Y(f"{label}:N", title=None, sort=None, axis=alt.Axis(labelLimit=LABELS)), tooltip=tips(data))
    line = base.mark_rule(strokeWidth=2).transform_filter("isValid(datum.low) && isValid(datum.high)")
    point = base.mark_point(filled=True, size=70, opacity=1).encode(x=x, color=colour)
    count = base.mark_text(align="left", baseline="bottom", dx=6, dy=-3).encode(x=x, text=f"{told}:N")
    span = [line.encode(x=alt.X("low:Q", title=title), x2="high:Q", color=colour)] if bounded(data) else []
    layers = [point, *span, count]
    return sized(alt.layer(*unity(at), *layers), STEP * data[label].n_unique(), f"{title}, by {label}")


def curves(
    table: pl.DataFrame, at: str, title: str, value: str, methods: Sequence[str], step: bool = False, share: bool = False
) -> Spec | None:
    """A line for each method over `at`, with the band of its interval; None of steps that are all at 0."""
    data = known(table)
    if data.is_empty() or (step and not data[at].max()):
        return None
    bend: Any = "step-after" if step else "linear"
    places = data[at].unique().to_list()
    whole = len(places) < 20 and all(place == int(place) for place in places)
    x = alt.X(f"{at}:Q", title=title, axis=alt.Axis(values=sorted(places), format="d") if whole else alt.Axis())
    scale = alt.Scale(domain=[0, 1]) if share else alt.Scale(zero=False)
    y: dict[str, Any] = {"title": value, "scale": scale, "axis": alt.Axis(format="%") if share else alt.Axis()}
    base = chart(data).encode(x=x, color=by_method(methods), tooltip=tips(data))
    band = base.mark_area(opacity=0.15, interpolate=bend).encode(y=alt.Y("low:Q", **y), y2="high:Q")
    dots: Any = {"filled": True, "size": 40} if data.height <= 20 * len(methods) and not step else False
    line = base.mark_line(strokeWidth=2, interpolate=bend, point=dots).encode(y=alt.Y("value:Q", **y), strokeDash=dash(methods))
    return sized(alt.layer(*([band] if bounded(data) else []), line), HEIGHT, f"{value} over {title}, a line for each method")


def stacks(table: pl.DataFrame, label: str, part: str, title: str, colours: Mapping[str, str]) -> Spec | None:
    """A bar for each label, its shares of `part` from left to right in the order of `colours`."""
    data = known(table)
    if data.is_empty():
        return None
    order = {name: place for place, name in enumerate(colours)}
    data = data.with_columns(order=pl.col(part).replace_strict(order, return_dtype=pl.Int64))
    bars = chart(data).mark_bar(stroke="var(--surface)", strokeWidth=1).encode(
        y=alt.Y(f"{label}:N", title=None, sort=None, axis=alt.Axis(labelLimit=LABELS)),
        x=alt.X("value:Q", title=title, stack="zero", scale=alt.Scale(domain=[0, 1]), axis=alt.Axis(format="%")),
        color=alt.Color(f"{part}:N", scale=alt.Scale(domain=list(colours), range=list(colours.values())), legend=legend_of(list(colours))),
        order="order:Q",
        tooltip=tips(data.drop("order")),
    )  # fmt: skip
    return sized(bars, STEP * data[label].n_unique(), f"{title}, by {label}")


def heat(table: pl.DataFrame, label: str, title: str, methods: Sequence[str]) -> Spec | None:
    """A cell for each label and method, darker for more, with its share in figures."""
    data = known(table)
    if data.is_empty():
        return None
    base = chart(data).encode(
        x=alt.X("method:N", title=None, sort=list(methods), axis=across(methods)),
        y=alt.Y(f"{label}:N", title=None, sort=None, axis=alt.Axis(labelLimit=LABELS)),
        tooltip=tips(data),
    )
    top = max(*data["value"].to_list(), 1e-9)
    colour = alt.Color("value:Q", title=title, scale=alt.Scale(range=["#e8f0f9", "#174a80"], domain=[0, top]), legend=None)
    share = alt.condition(f"datum.value > {0.5 * top}", alt.value("#ffffff"), alt.value("#14212e"))
    cells = base.mark_rect(stroke="var(--surface)", strokeWidth=2).encode(color=colour)
    text = base.mark_text(fontSize=12).encode(text=alt.Text("value:Q", format=".0%"), color=share)
    return sized(alt.layer(cells, text), 26 * data[label].n_unique(), f"{title}, by {label} and method")


def ratios(data: pl.DataFrame) -> list[float]:
    """What a log axis spans: the intervals with 1 among them, a quarter to either side at least."""
    ends = [value for name in ("low", "value", "high") for value in data[name].drop_nulls().to_list()]
    return [0.95 * min(0.8, *ends), 1.05 * max(1.25, *ends)]


def known(table: pl.DataFrame) -> pl.DataFrame:
    """What can be drawn, without what only the table shows."""
    texts = [name for name, kind in table.schema.items() if name == "note" or kind.is_nested()]
    return table.drop(texts).filter(pl.col("value").is_not_null() & pl.col("value").is_finite())


def bounded(data: pl.DataFrame) -> bool:
    """Whether any row has an interval: Vega warns of a layer without an extent."""
    return data.select((pl.col("low").is_not_null() & pl.col("high").is_not_null()).any()).item()


def chart(data: pl.DataFrame) -> alt.Chart:
    return alt.Chart(alt.InlineData(values=data.to_dicts()))


def sized(drawn: Any, height: int, told: str) -> Spec:
    """As wide as its place. `told` names the chart to who does not see it."""
    return dict(drawn.properties(width="container", height=height, description=told).to_dict())


def unity(at: float | None) -> list[alt.Chart]:
    return [] if at is None else [chart(pl.DataFrame({"value": [at]})).mark_rule(strokeDash=[4, 3], color=INK).encode(x="value:Q")]


def across(methods: Sequence[str]) -> alt.Axis:
    """Names above columns; aslant where they would run into one another."""
    fits = max(map(len, methods)) * LETTER < WIDTH / len(methods)
    return alt.Axis(orient="top", labelLimit=LABELS, **{"labelAngle": 0} if fits else {"labelAngle": -30, "labelAlign": "left"})


def legend_of(names: Sequence[str]) -> alt.Legend:
    """Above the chart, in as many columns as its width has room for."""
    columns = int(WIDTH / (LETTER * (max(map(len, names)) + 5)))
    return alt.Legend(title=None, orient="top", columns=max(1, min(4, columns)), symbolOpacity=1, labelLimit=WIDTH)


def by_method(methods: Sequence[str], legend: bool = True) -> alt.Color:
    """The same colour for a method in every chart."""
    scale = alt.Scale(domain=list(methods), range=[PALETTE[i % len(PALETTE)] for i in range(len(methods))])
    return alt.Color("method:N", scale=scale, legend=legend_of(methods) if legend else None)


def dash(methods: Sequence[str]) -> alt.StrokeDash:
    scale = alt.Scale(domain=list(methods), range=[DASHES[i % len(DASHES)] for i in range(len(methods))])
    return alt.StrokeDash("method:N", scale=scale, legend=legend_of(methods))


def tips(data: pl.DataFrame) -> list[alt.Tooltip]:
    """Under the pointer: the row."""
    return [alt.Tooltip(f"{name}:Q", format=".4~g") if kind.is_float() else alt.Tooltip(f"{name}:N") for name, kind in data.schema.items()]
