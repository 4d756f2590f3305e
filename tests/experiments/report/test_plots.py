"""Room for names in charts."""

import polars as pl
import pytest

from experiments.report import plots

SHORT = ["evolve", "geak", "multiagent", "oneshot"]
LONG = [f"{name}, a model with a long name" for name in SHORT]


@pytest.mark.parametrize(("names", "columns"), [(SHORT, 4), (LONG, 1), (["geak, openai/some-model", *SHORT], 2)])
def test_a_legend_has_as_many_columns_as_there_is_room_for(names: list[str], columns: int) -> None:
    assert plots.legend_of(names).to_dict()["columns"] == columns


@pytest.mark.parametrize(("names", "angle"), [(SHORT, 0), (LONG, -30)])
def test_names_above_columns_stand_aslant_where_they_would_touch(names: list[str], angle: int) -> None:
    table = pl.DataFrame({"method": names, "category": ["Math"] * 4, "value": [0.5] * 4})
    found = plots.heat(table, "category", "share", names)
    assert found is not None
    assert found["layer"][0]["encoding"]["x"]["axis"]["labelAngle"] == angle
