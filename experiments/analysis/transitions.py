"""What changes from one round to the next, of the same trajectory.

A round's outcome is its best attempt (passing before failing, then by standing: measured speedup, modelled, lower name), not the best so
far: KernelBench-X too records a task's state round by round, so that a later round can be worse. Passing is the verdict `pass`; theirs is
`exe_ok`, which knows no hacks and no floors. Rounds without a verdict on a candidate have no outcome, and pairs need both rounds.
"""

from collections.abc import Iterator
from typing import Any

import polars as pl
from scipy import stats

from experiments.analysis.frames import Frames
from experiments.analysis.intervals import ENOUGH, clustered_geomean, wilson
from experiments.published.kernelbench_x import kind
from experiments.records import geomean
from tools.evaluation import NO_VERDICT

TRAJECTORY = ("run", "trajectory")
KINDS = ("rescued", "persistent", "regressed", "never")
SIDES = ("before", "after")
SPEEDS = ("measured_before", "speedup_before", "low_before", "high_before", "measured_after", "speedup_after", "low_after", "high_after",
          "modelled_before", "modelled_after")  # fmt: skip
MOVED: dict[str, Any] = {
    "method": pl.String, "round": pl.Int64, "transition": pl.String, "count": pl.Int64, "found": pl.Int64,
    **dict.fromkeys(("value", "low", "high"), pl.Float64),
    **{name: pl.Int64 if name.startswith("measured") else pl.Float64 for name in SPEEDS}, "note": pl.String,
}  # fmt: skip
CHANGED: dict[str, Any] = {
    "method": pl.String, "round": pl.Int64, "code": pl.String, "count": pl.Int64, "tasks": pl.Int64,
    **dict.fromkeys(("value", "low", "high", "p", "median", "largest"), pl.Float64),
    **dict.fromkeys(("faster", "slower", "noise", "without_interval"), pl.Int64), "count_modelled": pl.Int64, "modelled": pl.Float64,
    "note": pl.String,
}  # fmt: skip


def outcomes(attempts: pl.DataFrame) -> pl.DataFrame:
    """A row for each trajectory and round that has a verdict on a candidate; speeds and kernel only where it passed."""
    told = ("speedup", "speedup_low", "speedup_high", "modelled", "kernel_sha")
    passed = pl.col("verdict") == "pass"
    return (
        attempts.filter(~pl.col("verdict").is_in(list(NO_VERDICT)))
        .select(
            "method", *TRAJECTORY, "task", "round", "attempt", *(pl.when(passed).then(name).alias(name) for name in told), passed=passed
        )
        .sort("passed", "speedup", "modelled", "attempt", descending=[True, True, True, False], nulls_last=True)
        .unique([*TRAJECTORY, "round"], keep="first", maintain_order=True)
        .drop("attempt")
    )


def steps(frames: Frames) -> pl.DataFrame:
    """A row for each two consecutive rounds of a trajectory. `round` is the later one."""
    keys = ["method", *TRAJECTORY, "task", "round"]
    found = outcomes(frames.attempts)
    before, after = (found.select(*keys, pl.exclude(keys).name.suffix(f"_{side}")) for side in SIDES)
    both = after.join(before.with_columns(pl.col("round") + 1), on=keys).join(frames.runs.select("run", "mode"), on="run")
    return both.with_columns(
        transition=kind(pl.col("passed_before"), pl.col("passed_after")),
        code=pl.when(pl.col("kernel_sha_before") == pl.col("kernel_sha_after")).then(pl.lit("identical")).otherwise(pl.lit("changed")),
    ).sort("method", "round", *TRAJECTORY)


def transitions(frames: Frames, seed: int = 0) -> pl.DataFrame:
    """Trajectories by what happened from the round before to `round`: rescued passes only after, regressed only before, persistent in
    both, never in neither (KernelBench-X, section 4.4, where tasks without a change have no record; here all are counted).

    count: trajectories with an outcome in both rounds; found of them are this transition; value is their share, with Wilson's interval.
    speedup_before and _after: geometric means of the passing side's measured speedups (as many as `measured_` says), 95 % by bootstrap
    over tasks. modelled_: the same of modelled speedups, never mixed.
    """
    rows = []
    for method, later, part in groups(steps(frames)):
        for word in KINDS:
            own = part.filter(pl.col("transition") == word)
            low, high = wilson(own.height, part.height)
            share = {"count": part.height, "found": own.height, "value": own.height / part.height, "low": low, "high": high}
            speeds = {name: value for side in SIDES for name, value in speed(own, side, seed).items()}
            rows.append({"method": method, "round": later, "transition": word, **share, **speeds, "note": note(own, word)})
    return pl.DataFrame(rows, schema=MOVED)


def groups(frame: pl.DataFrame) -> Iterator[tuple[str, int, pl.DataFrame]]:
    for (method, later), part in frame.group_by("method", "round", maintain_order=True):
        yield str(method), int(later), part


def speed(own: pl.DataFrame, side: str, seed: int) -> dict[str, Any]:
    known = own.select("task", value=f"speedup_{side}").drop_nulls()
    low, high = clustered_geomean(known["value"], known["task"], seed)
    return {
        f"measured_{side}": known.height, f"speedup_{side}": geomean(known["value"]), f"low_{side}": low, f"high_{side}": high,
        f"modelled_{side}": geomean(own[f"modelled_{side}"].drop_nulls()),
    }  # fmt: skip


def note(own: pl.DataFrame, word: str) -> str:
    """Why speeds are missing or stand for fewer than were found."""
    simulated = own.filter(pl.col("mode") == "simulated").height
    sides = {"rescued": ["after"], "regressed": ["before"], "persistent": list(SIDES), "never": []}[word]
    tasks = [own.drop_nulls(f"speedup_{side}")["task"].n_unique() for side in sides]
    told = [
        "simulated: no measured speedup" if simulated and sides else "",
        "fewer than 5 measured tasks: no interval" if any(0 < count < ENOUGH for count in tasks) else "",
    ]
    return "; ".join(line for line in told if line)


def deltas(frames: Frames, seed: int = 0) -> pl.DataFrame:
    """The later round's speedup over that of the round before, of trajectories that pass and are measured in both.

    value: geometric mean of the ratios, 95 % by bootstrap over tasks; median and largest ratio beside it. code: `identical` where both
    rounds' kernels are the same to the byte, so that the ratio is noise of the timing; `changed` otherwise.
    Against the attempts' own 95 % intervals: `noise` lies with each speedup within the other's interval, the rest is faster or slower.
    p: Wilcoxon's signed-rank test, two-sided, of the tasks' mean log-ratios against 0, not corrected for the number of rows.
    A selection: a kernel that regressed to failing has no ratio. modelled: geometric mean of modelled ratios, never mixed.
    """
    rows = []
    for method, later, part in groups(steps(frames).filter(pl.col("transition") == "persistent")):
        for (code,), own in part.group_by("code", maintain_order=True):
            rows.append({"method": method, "round": later, "code": code, **delta(own, seed)})
    return pl.DataFrame(rows, schema=CHANGED).sort("method", "round", "code")


def delta(own: pl.DataFrame, seed: int) -> dict[str, Any]:
    ratio = pl.col("speedup_after") / pl.col("speedup_before")
    timed = own.drop_nulls(["speedup_before", "speedup_after"]).with_columns(ratio=ratio, change=change())
    modelled = own.select(value=pl.col("modelled_after") / pl.col("modelled_before")).drop_nulls()["value"]
    low, high = clustered_geomean(timed["ratio"], timed["task"], seed)
    by_task = timed.group_by("task").agg(pl.col("ratio").log().mean())["ratio"]
    few = by_task.len() < ENOUGH
    told = [
        "simulated: no measured speedup" if (own["mode"] == "simulated").any() else "",
        "fewer than 5 measured tasks: no interval, no test" if timed.height and few else "",
    ]
    return {
        "count": timed.height, "tasks": by_task.len(), "value": geomean(timed["ratio"]), "low": low, "high": high,
        "p": None if few else signed_rank(by_task), "median": timed["ratio"].median(), "largest": timed["ratio"].max(),
        **{word: timed.filter(pl.col("change") == word).height for word in ("faster", "slower", "noise", "without_interval")},
        "count_modelled": modelled.len(), "modelled": geomean(modelled), "note": "; ".join(line for line in told if line),
    }  # fmt: skip


def change() -> pl.Expr:
    """A change is noise where the measurements cannot tell the two apart: each speedup lies within the other's interval."""
    before, after = (pl.col(f"speedup_{side}") for side in SIDES)
    inside = [value.is_between(f"speedup_low_{other}", f"speedup_high_{other}") for value, other in ((before, "after"), (after, "before"))]
    unknown = pl.any_horizontal(pl.col(f"speedup_low_{side}").is_null() for side in SIDES)
    word = pl.when(unknown).then(pl.lit("without_interval")).when(inside[0] & inside[1]).then(pl.lit("noise"))
    return word.when(after > before).then(pl.lit("faster")).otherwise(pl.lit("slower"))


def signed_rank(logs: pl.Series) -> float:
    """Of nothing but zeros there is nothing to tell: 1."""
    return float(stats.wilcoxon(logs.to_numpy()).pvalue) if (logs != 0).any() else 1.0
