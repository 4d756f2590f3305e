"""What the tuner gained beyond the models."""

from typing import Any

from scaffolds.gains import of_tuner


def attempt(role: str, speedup: float | None, modelled: float | None = None, verdict: str = "pass") -> dict[str, Any]:
    return {"role": role, "speedup": speedup, "modelled": modelled, "verdict": verdict}


def gain(*attempts: dict[str, Any]) -> float | None:
    found = of_tuner(attempts)
    assert found is not None
    return found["gain"]


def test_it_is_the_best_of_all_over_the_best_of_a_model() -> None:
    models = attempt("generator", 1.0), attempt("optimiser", 2.0)
    assert gain(*models, attempt("tuner", 3.0), attempt("tuner", 2.5)) == 1.5


def test_a_sweep_that_finds_nothing_faster_gains_nothing() -> None:
    assert gain(attempt("generator", 2.0), attempt("tuner", 1.0), attempt("tuner", 9.0, verdict="wrong_numeric")) == 1.0


def test_what_a_model_reached_after_tuning_is_the_models() -> None:
    assert gain(attempt("generator", 1.0), attempt("tuner", 1.5), attempt("optimiser", 3.0)) == 1.0


def test_without_measurements_modelled_speeds_are_compared_and_it_says_so() -> None:
    found = of_tuner([attempt("generator", None, 1.0), attempt("tuner", None, 1.25)])
    assert found == {"variants": 1, "passed": 1, "models": 1.0, "best": 1.25, "gain": 1.25, "measured": False}


def test_without_a_variant_there_is_none() -> None:
    assert of_tuner([attempt("generator", 2.0)]) is None


def test_without_a_speed_it_is_unknown() -> None:
    assert gain(attempt("generator", None), attempt("tuner", None, verdict="timeout")) is None
