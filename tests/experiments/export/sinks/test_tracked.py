"""What trackers are told: the best so far after each attempt, what was spent by then, figures of the whole, and no key."""

from pathlib import Path

import pytest

from benchmark.errors import UserError
from experiments.export.sinks import tracked
from tests.experiments.export import stores


def test_the_course_is_the_best_so_far_over_all_asked_and_what_was_spent_by_then(tmp_path: Path) -> None:
    first, second, third = tracked.history(stores.run(tmp_path / "r"))
    assert first == {"solved_share": 0.0, "compiled_share": 1 / 3, "tokens": 300, "usd": 0.5, "gpu_s": 0.0}
    assert second == {"solved_share": 1 / 3, "compiled_share": 1 / 3, "speedup_over_all": pytest.approx(2 ** (1 / 3)), "tokens": 600,
                      "usd": 1.0, "gpu_s": 0.0}  # fmt: skip
    assert third["compiled_share"] == 2 / 3


def test_the_mean_of_the_best_so_far_is_that_of_the_best_attempts(tmp_path: Path) -> None:
    mean = tracked.Mean(asked=2)
    mean.replace(None, {"speedup": 2.0}, "speedup")
    mean.replace({"speedup": 2.0}, {"speedup": 8.0}, "speedup")
    assert mean.value == pytest.approx(8.0**0.5)
    mean.replace(None, {"speedup": None}, "speedup")
    assert mean.value is None


def test_the_summary_keeps_what_is_known_and_leaves_out_what_is_not(tmp_path: Path) -> None:
    found = tracked.summary(stores.run(tmp_path / "r"))
    assert (found["asked"], found["solved"], found["solved_share"]) == (3, 1, 1 / 3)
    assert (found["tokens_at_least"], found["tokens_at_most"]) == (600, 1500)
    assert "tokens" not in found
    assert "modelled_over_all" not in found


def test_a_run_of_which_nothing_is_recorded_has_a_summary(tmp_path: Path) -> None:
    assert tracked.summary(stores.unanswered(tmp_path / "r"))["solved"] == 0


def test_a_key_of_the_environment_is_named_in_place_of_its_value(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", stores.SECRET)
    rows = [tracked.row(attempt) for attempt in stores.run(tmp_path / "r").attempts]
    assert rows[2][tracked.COLUMNS.index("strategy")] == "with [OPENAI_API_KEY]"


def test_a_configuration_is_flat_by_its_path() -> None:
    assert dict(tracked.flat({"config": {"seed": 0, "tasks": ["a"]}, "run": "r"})) == {
        "config.seed": "0",
        "config.tasks": '["a"]',
        "run": "r",
    }


@pytest.mark.parametrize("name", ["wandb", "mlflow"])
def test_a_library_that_is_missing_is_one_sentence_with_the_command(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(__import__("sys").modules, name, None)
    with pytest.raises(UserError, match=rf"pip install 'kernelwright\[{name}\]'"):
        tracked.library(name, name)
