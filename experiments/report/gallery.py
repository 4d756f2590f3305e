"""The figures of `experiments.analysis` as the page shows them: in its order, each with its definition and its chart."""

from collections.abc import Iterator, Sequence

import polars as pl

from experiments.analysis import anytime, cost, deviance, rates, speed, transitions
from experiments.analysis.frames import Frames
from experiments.report import plots
from experiments.report.figures import PALETTE, VERDICT_COLOURS, Figure
from experiments.report.plots import Spec
from tools.evaluation import NO_VERDICT, VERDICTS

Methods = Sequence[str]
AXES = {"rounds": "rounds", "tokens": "tokens of a trajectory", "usd": "USD of a trajectory", "gpu_s": "GPU seconds of a trajectory"}
MEASURES = {
    "solved": ("Solved", "share of asked", "Share of all asked with a passing attempt by then, with Wilson's 95 % interval."),
    "geomean": (
        "Speedup", "geometric mean",
        "Geometric mean of the best measured speedup by then, over all asked, a failure as 1.0; 95 % by Student's t of the logarithms.",
    ),
    "modelled": ("Modelled speedup", "geometric mean", "As the measured one, of modelled speedups of simulated runs: no measurement."),
}  # fmt: skip
STEPS = 200
"""Of a method's curve, in the page."""
MOST = 20
"""Classes of failures that are drawn."""
TRANSITIONS = {"rescued": "#2e9461", "persistent": PALETTE[0], "regressed": "#c8493f", "never": "#8a919b"}
NEVER_RAN = frozenset({"no_code", "syntax_error", "import_error", "missing_entry", "compile_error", "not_triton", "forbidden"})
SHADES = {
    "pass": [VERDICT_COLOURS["pass"]],
    "broken": ["#c8493f", "#e58b80", "#93281f", "#f0b5ad", "#b3676b", "#6e1c16", "#d9a0a5"],
    "wrong": ["#d19a1e", "#ecc873", "#9a6c06", "#7d6b3d", "#f2dfae", "#b9863f", "#5e4a12", "#e0b04d"],
    "none": ["#8a919b", "#b9bfc6", "#636a73"],
}


def figures(frames: Frames) -> Iterator[Figure]:
    methods: Methods = frames.runs["method"].unique(maintain_order=True).to_list()
    yield from progress(rates.by_round(frames), methods)
    yield matrix(rates.matrix(frames), methods)
    yield geomeans(speed.geomeans(frames), methods)
    yield fast(speed.fast(frames), methods)
    yield slower(speed.slower(frames), methods)
    yield hardware(speed.hardware(frames))
    yield verdicts(rates.verdicts(frames))
    yield failures(rates.failures(frames), methods)
    yield moved(transitions.transitions(frames))
    yield changed(transitions.deltas(frames), methods)
    for axis in AXES:
        yield from curves(anytime.curves(frames, axis), axis, methods)
    yield from costs(cost.per_success(frames), methods)
    yield explained(deviance.across(frames))


def progress(table: pl.DataFrame, methods: Methods) -> Iterator[Figure]:
    stages = {
        "solved": ("Solved by round", "Share of all asked with a passing attempt by the end of a round; Wilson's 95 % interval."),
        "correct": ("Correct by round", "Share of all asked with an attempt that computes the right values by the end of a round."),
        "compiled": ("Compiled by round", "Share of all asked with an attempt that compiles by the end of a round."),
    }  # fmt: skip
    for stage, (title, caption) in stages.items():
        own = table.filter(stage=stage).drop("stage")
        if own.height:
            yield figure(
                f"by-round-{stage}", title, caption, own, plots.curves(own, "round", "round", "share of asked", methods, share=True)
            )


def matrix(table: pl.DataFrame, methods: Methods) -> Figure:
    caption = "Share solved of all asked, by category and method, with Wilson's 95 % interval in the data."
    return figure("matrix", "Category by method", caption, table, plots.heat(table, "category", "share solved", methods))


def fast(table: pl.DataFrame, methods: Methods) -> Figure:
    caption = "fast_p (KernelBench, section 3): share of all asked that are solved and faster than p times eager, by measured speedup."
    return figure("fast", "fast_p", caption, table, plots.curves(table, "threshold", "p", "share of asked", methods, step=True, share=True))


def geomeans(table: pl.DataFrame, methods: Methods) -> Figure:
    caption = (
        "Geometric means of champions' measured speedups over eager: over the solved, and over all asked with a failure as 1.0. Modelled "
        "ones are in the data alone, under their own name."
    )
    drawn = table.filter(measure="measured").with_columns(label=pl.format("{}, over {}", "method", "over"))
    return figure("geomeans", "Speedup over eager", caption, table, plots.rows(drawn, "label", "geometric mean", methods, at=1.0, log=True))


def slower(table: pl.DataFrame, methods: Methods) -> Figure:
    caption = "Of passing, measured attempts: speedup below 1, with Wilson's 95 % interval. sure: those whose whole interval is below 1."
    return figure("slower", "Correct and slower than eager", caption, table, plots.rows(table, "method", "share", methods, share=True))


def failures(table: pl.DataFrame, methods: Methods) -> Figure:
    caption = (
        "Attempts that did not pass, by stage, verdict and kind of error; share of all the method's attempts. Drawn are the most frequent."
    )
    data = table.with_columns(label=pl.concat_str(["stage", "verdict", "error_kind"], separator=", ", ignore_nulls=True))
    most = data.group_by("label").agg(pl.col("found").sum()).sort("found", "label", descending=[True, False])["label"].head(MOST)
    spec = plots.heat(data.filter(pl.col("label").is_in(most.to_list())), "label", "share of attempts", methods)
    return figure("failures", "Failure classes", caption, table, spec)


def hardware(table: pl.DataFrame) -> Figure:
    caption = (
        "Geometric mean of a task's measured champions on each device, from the smallest to the largest of them (no interval). Drawn are "
        "tasks that were measured on several devices; spread is the largest device's value over the smallest's."
    )
    drawn = table.filter(pl.col("spread").is_not_null()).with_columns(label=pl.format("{}, {}", "task", "device"))
    spec = plots.rows(drawn, "label", "speedup (log)", at=1.0, log=True)
    return figure("hardware", "Spread over hardware", caption, table, spec)


def moved(table: pl.DataFrame) -> Figure:
    caption = (
        "Trajectories by what happened from the round before to this one: rescued passes only after, regressed only before, persistent in "
        "both, never in neither (KernelBench-X, section 4.4); of those with a verdict in both rounds. Speedups: geometric means of the "
        "passing sides."
    )
    spec = plots.stacks(rounds(table), "step", "transition", "share of trajectories", TRANSITIONS)
    return figure("transitions", "Transitions between rounds", caption, table, spec)


def changed(table: pl.DataFrame, methods: Methods) -> Figure:
    caption = (
        "A round's measured speedup over that of the round before, where both pass: geometric mean, 95 % by bootstrap over tasks. noise: "
        "each within the other's interval. p: Wilcoxon's signed-rank test of the tasks' mean log-ratios. identical: the same kernel to the "
        "byte, so that its ratio is the timing's noise."
    )
    data = rounds(table).with_columns(step=pl.format("{}, {}", "step", "code")) if table.height else rounds(table)
    spec = plots.rows(data, "step", "ratio to the round before (log)", methods, at=1.0, log=True)
    return figure("deltas", "Same task, next round", caption, table, spec)


def rounds(table: pl.DataFrame) -> pl.DataFrame:
    return table.with_columns(step=pl.format("{}, {} to {}", "method", pl.col("round") - 1, "round"))


def curves(table: pl.DataFrame, axis: str, methods: Methods) -> Iterator[Figure]:
    """One figure for each measure that the axis has."""
    for measure, (title, value, definition) in MEASURES.items():
        own = thin(table.filter(measure=measure)).drop("axis", "measure")
        if own.height:
            caption = f"Best so far, had every trajectory been stopped there. {definition}"
            spec = plots.curves(own, "at", AXES[axis], value, methods, step=True, share=measure == "solved")
            yield figure(f"anytime-{measure}-{axis.replace('_', '-')}", f"{title} against {AXES[axis]}", caption, own, spec)


def thin(table: pl.DataFrame) -> pl.DataFrame:
    """At most STEPS rows of a method, the first and the last among them."""
    place = pl.int_range(pl.len()).over("method")
    every = (pl.len().over("method") / STEPS).ceil()
    return table.filter((place % every == 0) | (place == pl.len().over("method") - 1))


def costs(table: pl.DataFrame, methods: Methods) -> Iterator[Figure]:
    caption = (
        "All spending, failures and retries too, per solved task (count). Where a call's usage or price is unknown the value is empty, and "
        "low and high are its bounds, no intervals. An empty category is the whole method."
    )
    for unit, title in (("tokens", "Tokens"), ("usd", "USD")):
        own = table.filter(unit=unit).drop("unit")
        spec = plots.rows(own.filter(pl.col("category").is_null()), "method", f"{title} per solved task", methods)
        yield figure(f"cost-{unit}", f"{title} per solved task", caption, own, spec)


def explained(table: pl.DataFrame) -> Figure:
    caption = (
        "Share of the null deviance of solved, of all asked, that a term takes off in a binomial GLM (McFadden), each alone and after the "
        "other, on df degrees of freedom; 95 % by basic bootstrap over tasks. chance: what a term without effect explains on average."
    )
    after = pl.when(pl.col("after") == "").then("term").otherwise(pl.format("{} after {}", "term", "after"))
    spec = plots.rows(table.with_columns(label=after, told=pl.format("df {}", "df")), "label", "share of deviance", told="told", share=True)
    return figure("deviance", "What explains success", caption, table, spec)


def verdicts(table: pl.DataFrame) -> Figure:
    caption = (
        "Attempts of a method by verdict: green passed, amber ran and was refused, red never ran, grey has no verdict on the candidate."
    )
    spec = plots.stacks(table, "method", "verdict", "share of attempts", verdict_colours(table["verdict"].unique().to_list()))
    return figure("verdicts", "Verdicts", caption, table, spec)


def verdict_colours(present: Sequence[str]) -> dict[str, str]:
    """Of those present, in the order of VERDICTS by family: a family's verdicts share a hue."""
    shades = {family: iter(colours * len(VERDICTS)) for family, colours in SHADES.items()}
    order = sorted((v for v in VERDICTS if v in present), key=lambda v: list(SHADES).index(family(v)))
    return {verdict: next(shades[family(verdict)]) for verdict in order}


def family(verdict: str) -> str:
    return "pass" if verdict == "pass" else "none" if verdict in NO_VERDICT else "broken" if verdict in NEVER_RAN else "wrong"


def figure(name: str, title: str, caption: str, table: pl.DataFrame, spec: Spec | None) -> Figure:
    """What the rows' notes say stands once below it."""
    notes = table["note"].drop_nulls().unique(maintain_order=True).to_list() if "note" in table.columns else []
    return Figure(name, title, caption, table, spec, note=told(table, [note for note in notes if note]))


def told(table: pl.DataFrame, notes: Sequence[str]) -> str:
    """Each note, with its methods where it is not said of all."""
    if "method" not in table.columns:
        return f"{'; '.join(notes)}." if notes else ""
    everyone = table["method"].n_unique()
    by = [(note, table.filter(note=note)["method"].unique(maintain_order=True).to_list()) for note in notes]
    said = [note if len(methods) == everyone else f"{', '.join(methods)}: {note}" for note, methods in by]
    return f"{'; '.join(said)}." if said else ""
