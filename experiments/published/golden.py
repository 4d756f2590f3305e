"""Figures of the golden timings: whose golden totals the corpus's speedups divide, copied directories, rows that time the launch."""

from itertools import combinations

import polars as pl

from experiments.published.kernelbench_x import Checkout
from experiments.report.figures import Figure

HALF = 5e-5
"""Half of the last digit that their speedups and milliseconds have."""


def figures(checkout: Checkout) -> list[Figure]:
    return [machines(checkout), copies(checkout), launches(checkout)]


def machines(checkout: Checkout) -> Figure:
    """speedup x candidate's milliseconds is the golden total that was divided: it must lie within the rounding of both.

    Which machine the candidate ran on does not follow from it.
    """
    totals = checkout.golden.group_by("machine", "name").agg(total=pl.col("ms").sum())
    low, high = ((pl.col("speedup") + half) * (pl.col("ms") + half) for half in (-HALF, HALF))
    table = (
        checkout.timed.join(totals, on="name")
        .with_columns(product=pl.col("speedup") * pl.col("ms"), agrees=pl.col("total").is_between(low, high))
        .group_by("machine")
        .agg(
            count=pl.len(),
            agrees=pl.col("agrees").sum(),
            median_difference=((pl.col("product") / pl.col("total")).log().abs()).median(),
        )
        .sort(["agrees", "machine"], descending=[True, False])
    )
    caption = (
        "Timed states of the corpus whose task has golden timings: where speedup x milliseconds is the machine's golden total, "
        "within the rounding to four decimals. median_difference: of |log(product / total)|."
    )
    return Figure("golden-machine", "Whose golden totals the speedups divide", caption, table)


def copies(checkout: Checkout) -> Figure:
    """Official tasks only, which each machine has."""
    golden = checkout.golden.filter(pl.col("name").is_in(list(checkout.official)))
    files = golden.group_by("machine", "name", maintain_order=True).agg("record")
    rows = []
    for one, other in combinations(sorted(golden["machine"].unique()), 2):
        pair = files.filter(pl.col("machine") == one).join(files.filter(pl.col("machine") == other), on="name", suffix="_other")
        left, right = (golden.filter(pl.col("machine") == machine) for machine in (one, other))
        joined = left.join(right, on=["name", "row"], suffix="_other")
        same = pair.filter(pl.col("record") == pl.col("record_other")).height
        rows.append((one, other, pair.height, same, joined.height, joined.filter(pl.col("record") == pl.col("record_other")).height))
    table = pl.DataFrame(rows, schema=["machine", "other", "files", "identical_files", "rows", "identical_rows"], orient="row")
    caption = "Golden timings of official tasks that two machines share to the last digit: a row has size, milliseconds, GB/s and TFLOPS."
    return Figure("golden-copies", "Identical golden timings", caption, table.sort("identical_files", "identical_rows", descending=True))


def launches(checkout: Checkout) -> Figure:
    golden = checkout.golden.filter(pl.col("name").is_in(list(checkout.official)))
    tasks = golden.group_by("machine", "name").agg(rows=pl.len(), share=pl.col("ms").max() / pl.col("ms").sum())
    by_task = tasks.with_columns(fewer=pl.col("rows") < pl.col("rows").max().over("name"))
    by_row = golden.group_by("machine").agg(
        count=pl.len(), below_10_us=(pl.col("ms") < 0.01).mean(), below_20_us=(pl.col("ms") < 0.02).mean()
    )
    of_tasks = by_task.group_by("machine").agg(largest_share=pl.col("share").median(), fewer_sizes=pl.col("fewer").sum())
    table = by_row.join(of_tasks, on="machine").sort("machine")
    caption = (
        "Golden rows of official tasks; shares of rows that take less than 10 and 20 microseconds, where the launch is most of the time; "
        "the largest row's share of a task's total, in the median; tasks with fewer sizes than on another machine."
    )
    return Figure("golden-launches", "Rows that time the launch", caption, table)
