"""How far category and method account for what is solved: deviance explained by a binomial GLM (logit; statsmodels).

Deviance is -2 log-likelihood of the single trajectories, solved or not. A term's share is what it takes off, divided by the null
deviance (McFadden 1974; without a correction for degrees of freedom, so that a term of many levels explains some by chance).
KernelBench-X (arXiv 2605.04956) gives 9.4 % for category and 3.3 % for method, its form untold. The 3.3 % come out as method alone over
the four methods of its Table 1 that solved anything; with the fifth, which solved nothing, they would be 12.1 %.
"""

import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np
import polars as pl
import statsmodels.api as sm
from numpy.typing import NDArray
from scipy.special import xlog1py, xlogy
from scipy.stats import chi2
from statsmodels.tools.sm_exceptions import PerfectSeparationWarning, SingularMatrixWarning

if TYPE_CHECKING:
    from experiments.analysis.frames import Frames

Vector = NDArray[Any]
TERMS = (
    ("category", "", "null", "category"),
    ("method", "category", "category", "both"),
    ("method", "", "null", "method"),
    ("category", "method", "method", "both"),
    ("category + method", "", "null", "both"),
)
"""Term, what was in before it, the models without and with it. The first two are one order, the next two the other."""
SCHEMA = {
    "term": pl.String, "after": pl.String, "count": pl.Int64, "solved": pl.Int64, "df": pl.Int64, "deviance": pl.Float64,
    "null_deviance": pl.Float64, "value": pl.Float64, "low": pl.Float64, "high": pl.Float64, "chance": pl.Float64, "p": pl.Float64,
    "note": pl.String,
}  # fmt: skip
RESAMPLES = 499
ENOUGH_TASKS = 10
"""Tasks below which no interval is given."""
EVENTS = 10
"""Solved, and failed, for each parameter below which estimates are said to be unsure (Peduzzi et al. 1996, J. Clin. Epidemiol. 49)."""
LIMIT = 1e-6
"""A fitted probability this near to 0 or 1 is on its way there."""


@dataclass(frozen=True)
class Cells:
    """Trajectories by category and method: how many, and how many solved, with the two levels as numbers from 0."""

    solved: Vector
    count: Vector
    category: Vector
    method: Vector

    def of(self, kept: Vector) -> "Cells":
        return Cells(self.solved[kept], self.count[kept], self.category[kept], self.method[kept])

    @property
    def design(self) -> Vector:
        """A column for each category, and for each method but one; of lower rank where no category joins the methods."""
        levels = [self.category[:, None] == np.unique(self.category), self.method[:, None] == np.unique(self.method)[1:]]
        return np.hstack(levels).astype(float)

    def null(self) -> Vector:
        return np.full(len(self.count), self.solved.sum() / self.count.sum())

    def alone(self, level: Vector) -> Vector:
        """The closed form of one factor's fit: each level's own share. Holds at 0 and 1 too, where no estimate is finite."""
        return (np.bincount(level, self.solved) / np.maximum(np.bincount(level, self.count), 1))[level]

    def both(self) -> Vector:
        """Fitted shares of the additive model.

        A level that was always or never solved has its estimate at infinity; in that limit it is fitted exactly and takes no part in the
        others' fit. So it is set aside, again as long as this makes others so, and the rest is fitted.
        """
        fitted, left = np.zeros(len(self.count)), self.count > 0
        while left.any():
            rest = self.of(left)
            shares = np.array([rest.alone(rest.category), rest.alone(rest.method)])
            extreme = ((shares == 0) | (shares == 1)).any(axis=0)
            if not extreme.any():
                fitted[left] = rest.fit()
                break
            fitted[np.flatnonzero(left)[extreme]] = (rest.solved / rest.count)[extreme]
            left[np.flatnonzero(left)[extreme]] = False
        return fitted

    def fit(self) -> Vector:
        with warnings.catch_warnings():
            for kind in (PerfectSeparationWarning, SingularMatrixWarning, RuntimeWarning):
                warnings.simplefilter("ignore", kind)  # Each is met on the way to a limit that is right.
            model = sm.GLM(np.column_stack([self.solved, self.count - self.solved]), self.design, family=sm.families.Binomial())
            return np.asarray(model.fit(tol=1e-8, maxiter=100).mu)

    def deviances(self) -> dict[str, float]:
        fitted = {"null": self.null(), "category": self.alone(self.category), "method": self.alone(self.method), "both": self.both()}
        return {name: self.deviance(shares) for name, shares in fitted.items()}

    def deviance(self, fitted: Vector) -> float:
        return float(-2 * (xlogy(self.solved, fitted) + xlog1py(self.count - self.solved, -fitted)).sum())

    def ranks(self) -> dict[str, int]:
        """Parameters of each model; those at infinity count."""
        levels = {"category": len(set(self.category)), "method": len(set(self.method))}
        return {"null": 1, **levels, "both": int(np.linalg.matrix_rank(self.design))}


def across(frames: "Frames", seed: int = 0) -> pl.DataFrame:
    """Of all the runs together, everything that was asked."""
    return explained(frames.asked, seed)


def explained(asked: pl.DataFrame, seed: int = 0) -> pl.DataFrame:
    """One row per term, of a frame with task, category, method, solved (one row per trajectory asked).

    count: trajectories. deviance: what the term takes off, on df degrees of freedom. value: its share of the null deviance.
    low, high: 95 %, basic bootstrap over tasks, cut at 0 and 1: it leaves out what a resample explains by chance on top, so value can lie
    above it. chance: share that a term without any effect explains on average, df / null deviance.
    p: likelihood-ratio test against chi-squared. It takes trajectories as independent; a task's are not, so p of category is too small.
    """
    cells, tasks = counted(asked)
    ranks, notes = cells.ranks(), list(cautions(asked, cells))
    found = cells.deviances() if cells.count.sum() else dict.fromkeys(ranks, 0.0)
    bounds = intervals(tasks, cells, found, seed)
    rows = []
    for (term, after, without, within), (low, high) in zip(TERMS, bounds, strict=True):
        df, taken = ranks[within] - ranks[without], found[without] - found[within]
        told = {"value": taken / found["null"], "low": low, "high": high, "chance": df / found["null"]} if found["null"] else {}
        p = float(chi2.sf(taken, df)) if df and found["null"] else None
        rows.append({
            "term": term, "after": after, "count": int(cells.count.sum()), "solved": int(cells.solved.sum()), "df": df,
            "deviance": taken, "null_deviance": found["null"], **told, "p": p, "note": "; ".join(notes),
        })  # fmt: skip
    return pl.DataFrame(rows, schema=SCHEMA)


def counted(asked: pl.DataFrame) -> tuple[Cells, tuple[Vector, Vector]]:
    """The cells, and each task's part in them: solved and count, tasks x cells."""
    rows = asked.select(*(pl.col(name).rank("dense").cast(pl.Int64) - 1 for name in ("task", "category", "method")), "solved")
    grid = rows.select("category", "method").unique().sort("category", "method").with_row_index("cell")
    rows = rows.join(grid, on=["category", "method"])
    shape = (rows["task"].n_unique(), grid.height)
    place = rows["task"].to_numpy() * shape[1] + rows["cell"].to_numpy()
    size = shape[0] * shape[1]
    count = np.bincount(place, np.ones(len(place)), minlength=size).reshape(shape)
    solved = np.bincount(place, rows["solved"].to_numpy(), minlength=size).reshape(shape)
    return Cells(solved.sum(0), count.sum(0), grid["category"].to_numpy(), grid["method"].to_numpy()), (solved, count)


def intervals(tasks: tuple[Vector, Vector], cells: Cells, found: dict[str, float], seed: int) -> list[tuple[float | None, float | None]]:
    """Of each term's share."""
    if len(tasks[0]) < ENOUGH_TASKS or not found["null"]:
        return [(None, None)] * len(TERMS)
    number = len(tasks[0])
    random = np.random.default_rng(seed)
    drawn = []
    for _ in range(RESAMPLES):
        weights = random.multinomial(number, np.full(number, 1 / number)).astype(float)
        drawn.append(replace(cells, solved=weights @ tasks[0], count=weights @ tasks[1]).deviances())
    again = np.array([shares(one) for one in drawn if one["null"]])
    value = np.array(shares(found))
    low, high = np.clip(2 * value - np.quantile(again, [[0.975], [0.025]], axis=0)[:, 0], 0, 1)
    return list(zip(low.tolist(), high.tolist(), strict=True))


def shares(found: dict[str, float]) -> list[float]:
    return [(found[without] - found[within]) / found["null"] for *_, without, within in TERMS]


def cautions(asked: pl.DataFrame, cells: Cells) -> Iterator[str]:
    """What stands between the numbers and a conclusion."""
    solved, count = int(cells.solved.sum()), int(cells.count.sum())
    if solved in (0, count):
        yield "nothing asked" if not count else f"{'none' if not solved else 'all'} of {count} solved: nothing to explain"
        return
    for factor in ("category", "method"):
        yield from extremes(asked, factor)
    fitted, parameters = cells.both(), cells.ranks()["both"]
    parted = int(((fitted < LIMIT) | (fitted > 1 - LIMIT)).sum())
    if parted:
        yield f"{parted} of {len(fitted)} combinations fitted as never or always solved, their estimates at infinity"
    if min(solved, count - solved) < EVENTS * parameters:
        yield f"few data: {solved} solved and {count - solved} failed for {parameters} parameters"
    if asked["task"].n_unique() < ENOUGH_TASKS:
        yield f"{asked['task'].n_unique()} tasks: too few for an interval"
    if asked.group_by("method").agg(pl.col("task").unique().sort()).n_unique("task") > 1:
        yield "not all methods were asked the same tasks"


def extremes(asked: pl.DataFrame, factor: str) -> Iterator[str]:
    """Levels that were never, or always, solved."""
    by = asked.group_by(factor).agg(pl.col("solved").mean()).sort(factor)
    for share, word in ((0.0, "never"), (1.0, "always")):
        names: Sequence[str] = by.filter(pl.col("solved") == share)[factor].to_list()
        if names:
            yield f"{word} solved: {factor} {', '.join(names)}"
