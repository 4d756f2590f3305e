"""Explained deviance against published fits, an independent solver, SQL, and what happens at the edges."""

from pathlib import Path
from random import Random

import duckdb
import numpy as np
import polars as pl
import pytest

from experiments.analysis.deviance import explained

BERKELEY = {
    "A": ((512, 313), (89, 19)), "B": ((353, 207), (17, 8)), "C": ((120, 205), (202, 391)),
    "D": ((138, 279), (131, 244)), "E": ((53, 138), (94, 299)), "F": ((22, 351), (24, 317)),
}  # fmt: skip
"""R's UCBAdmissions (Bickel et al. 1975): by department, admitted and rejected men, then women."""


def rows(cells: dict[tuple[str, str], tuple[int, int]]) -> pl.DataFrame:
    """A task for each trajectory, of (category, method): (solved, failed)."""
    told = [(c, m, won) for (c, m), (solved, failed) in cells.items() for won in [True] * solved + [False] * failed]
    frame = pl.DataFrame(told, schema={"category": pl.String, "method": pl.String, "solved": pl.Boolean}, orient="row")
    return frame.with_row_index("task").with_columns(pl.col("task").cast(pl.String))


def deviances(frame: pl.DataFrame) -> dict[tuple[str, str], tuple[int, float]]:
    return {(term, after): (df, value) for term, after, df, value in explained(frame).select("term", "after", "df", "deviance").rows()}


def drawn(seed: int, categories: int = 5, methods: int = 4, tasks: int = 60) -> pl.DataFrame:
    """Every task asked of every method; harder categories, better methods."""
    random = Random(seed)
    told = [
        (f"t{t}", f"c{t % categories}", f"m{m}", bool(random.random() < 1 / (1 + np.exp(1 - t % categories / 2 + m / 3))))
        for t in range(tasks)
        for m in range(methods)
    ]
    return pl.DataFrame(told, schema=["task", "category", "method", "solved"], orient="row")


def test_berkeley_admissions_as_r_fits_them() -> None:
    """anova(glm(cbind(Admitted, Rejected) ~ Gender + Dept, binomial)): null 877.056 on 11 df, residual 20.204 on 5; Dept alone 21.736."""
    cells = {(dept, who): counts for dept, both in BERKELEY.items() for who, counts in zip(("men", "women"), both, strict=True)}
    found = deviances(rows(cells))
    assert found["category + method", ""] == (6, pytest.approx(877.056 - 20.204, abs=2e-3))
    assert found["category", ""] == (5, pytest.approx(877.056 - 21.736, abs=2e-3))
    assert found["method", ""] == (1, pytest.approx(93.449, abs=2e-3))
    assert found["category", "method"] == (5, pytest.approx(763.402, abs=2e-3))
    assert found["method", "category"] == (1, pytest.approx(1.531, abs=2e-3))


def test_berkeley_gender_after_department_has_the_p_of_r() -> None:
    cells = {(dept, who): counts for dept, both in BERKELEY.items() for who, counts in zip(("men", "women"), both, strict=True)}
    row = explained(rows(cells)).filter(term="method", after="category").to_dicts()[0]
    assert row["p"] == pytest.approx(0.2159, abs=1e-4)


def test_the_paper_s_share_of_method_comes_out_of_its_table() -> None:
    """KernelBench-X, Table 1: 30, 54, 19 and 40 of 176 correct, the fifth method none; its abstract says 3.3 %."""
    four = {("all", name): (solved, 176 - solved) for name, solved in zip("abcd", (30, 54, 19, 40), strict=True)}
    assert share(rows(four), "method") == pytest.approx(0.0334, abs=5e-5)
    assert share(rows({**four, ("all", "e"): (0, 176)}), "method") == pytest.approx(0.1206, abs=5e-5)


def share(frame: pl.DataFrame, term: str, after: str = "") -> float:
    return float(explained(frame).filter(term=term, after=after)["value"].item())


@pytest.mark.parametrize("seed", range(3))
def test_an_independent_newton_solver_finds_the_same(seed: int) -> None:
    frame = drawn(seed)
    found = deviances(frame)
    null, category, method, both = (newton(frame, factors) for factors in ((), ("category",), ("method",), ("category", "method")))
    assert found["category", ""][1] == pytest.approx(null - category)
    assert found["method", "category"][1] == pytest.approx(category - both)
    assert found["method", ""][1] == pytest.approx(null - method)
    assert found["category", "method"][1] == pytest.approx(method - both)


def newton(frame: pl.DataFrame, factors: tuple[str, ...]) -> float:
    """Deviance of the single rows, with treatment contrasts."""
    dummies = [frame.select(factor).to_dummies(drop_first=True).to_numpy() for factor in factors]
    x = np.hstack([np.ones((frame.height, 1)), *dummies])
    y, beta = frame["solved"].to_numpy().astype(float), np.zeros(x.shape[1])
    for _ in range(30):
        mu = 1 / (1 + np.exp(-x @ beta))
        beta += np.linalg.solve(x.T @ (x * (mu * (1 - mu))[:, None]), x.T @ (y - mu))
    return float(-2 * np.log(np.where(y > 0, mu, 1 - mu)).sum())


def test_each_factor_alone_by_sql(tmp_path: Path) -> None:
    frame, lines = drawn(1), tmp_path / "asked.jsonl"
    frame.write_ndjson(lines)
    for factor in ("category", "method"):
        (taken,) = duckdb.sql(f"""
            WITH frame AS (FROM read_json_auto('{lines}')),
            levels AS (SELECT {factor}, avg(solved::int) AS p FROM frame GROUP BY {factor}),
            shares AS (SELECT f.solved, l.p, (SELECT avg(solved::int) FROM frame) AS q FROM frame f JOIN levels l USING ({factor}))
            SELECT 2 * sum(CASE WHEN solved THEN ln(p / q) ELSE ln((1 - p) / (1 - q)) END) FROM shares""").fetchall()[0]
        assert deviances(frame)[factor, ""][1] == pytest.approx(taken)


def test_both_orders_add_up_to_the_same() -> None:
    found = deviances(drawn(2))
    whole = found["category + method", ""]
    for first, then in (("category", "method"), ("method", "category")):
        one, other = found[first, ""], found[then, first]
        assert (one[0] + other[0], pytest.approx(one[1] + other[1])) == whole


def test_a_category_nobody_solves_is_fitted_in_the_limit_and_said() -> None:
    frame = drawn(3)
    unsolved = frame.with_columns(category=pl.lit("none"), task="x" + pl.col("task"), solved=pl.lit(False))
    both, rest = deviances(pl.concat([frame, unsolved])), deviances(frame)
    assert both["method", "category"] == (3, pytest.approx(rest["method", "category"][1], abs=1e-5))
    note = explained(pl.concat([frame, unsolved]))["note"][0]
    assert "never solved: category none" in note
    assert "estimates at infinity" in note


def test_levels_parted_step_by_step_leave_nothing_unexplained() -> None:
    frame = rows({("c", "x"): (3, 0), ("c", "y"): (3, 0), ("d", "x"): (3, 0), ("d", "y"): (0, 3), ("e", "x"): (0, 3), ("e", "y"): (0, 3)})
    assert share(frame, "category + method") == pytest.approx(1.0)


def test_a_parted_table_without_extreme_levels_converges_in_deviance() -> None:
    """c-y and d-x fix all but one parameter, along which c-x and d-y part: in the limit only the mixed cells are unexplained."""
    frame = rows({("c", "x"): (9, 0), ("c", "y"): (4, 5), ("d", "x"): (5, 4), ("d", "y"): (0, 9)})
    row = explained(frame).filter(term="category + method").to_dicts()[0]
    mixed = -4 * (4 * np.log(4 / 9) + 5 * np.log(5 / 9))
    assert row["null_deviance"] - row["deviance"] == pytest.approx(mixed, abs=1e-5)
    assert "2 of 4 combinations" in row["note"]


def test_methods_asked_of_different_categories_leave_no_degree_of_freedom() -> None:
    found = explained(rows({("c", "x"): (5, 5), ("d", "y"): (2, 8)})).filter(term="method", after="category").to_dicts()[0]
    assert (found["df"], found["p"]) == (0, None)
    assert found["deviance"] == pytest.approx(0.0, abs=1e-9)
    assert "not all methods were asked the same tasks" in found["note"]


@pytest.mark.parametrize(("solved", "note"), [(0, "none of 4 solved"), (4, "all of 4 solved")])
def test_nothing_to_explain_is_null_and_said(solved: int, note: str) -> None:
    table = explained(rows({("c", "x"): (solved, 4 - solved)}))
    assert table["value"].to_list() == [None] * 5
    assert note in table["note"][0]


def test_nothing_asked_is_null_and_said() -> None:
    table = explained(drawn(0).clear())
    assert table["count"].to_list() == [0] * 5
    assert table["note"][0] == "nothing asked"


def test_few_data_are_said() -> None:
    note = explained(drawn(0, tasks=8))["note"][0]
    assert "few data: " in note
    assert "8 tasks: too few for an interval" in note


@pytest.mark.slow
def test_a_factor_without_effect_explains_by_chance_what_is_said() -> None:
    rows = [explained(noise(seed), seed).row(0, named=True) for seed in range(60)]
    assert np.mean([row["value"] for row in rows]) == pytest.approx(np.mean([row["chance"] for row in rows]), rel=0.15)
    assert sum(row["p"] < 0.05 for row in rows) <= 8
    assert sum(row["low"] == 0 for row in rows) >= 54


def noise(seed: int) -> pl.DataFrame:
    random = np.random.default_rng(seed)
    told = {"category": random.integers(0, 8, 200), "method": random.integers(0, 3, 200), "solved": random.random(200) < 0.4}
    return pl.DataFrame(told).with_row_index("task")


@pytest.mark.slow
def test_the_interval_covers_a_large_population_s_share_about_as_often_as_it_says() -> None:
    """A percentile interval, of the same resamples, covers category's share 78 times of 100 here, and a share of 0 never."""
    truth = explained(clustered(0, 20_000))["value"].to_numpy()
    rows = [explained(clustered(seed), seed) for seed in range(1, 61)]
    covered = sum((row["low"].to_numpy() <= truth) & (truth <= row["high"].to_numpy()) for row in rows)
    assert covered.min() >= 50


def clustered(seed: int, tasks: int = 120) -> pl.DataFrame:
    """8 categories and 4 methods, and a difficulty of each task's own, which makes its trajectories alike."""
    random = np.random.default_rng(seed)
    task, method = (values.ravel() for values in np.indices((tasks, 4)))
    own = random.normal(0, 1, tasks)[task]
    score = np.linspace(-2.5, 0.5, 8)[task % 8] + np.linspace(-0.5, 0.5, 4)[method] + own
    return pl.DataFrame(
        {"task": task, "category": task % 8, "method": method, "solved": random.random(tasks * 4) < 1 / (1 + np.exp(-score))}
    )
