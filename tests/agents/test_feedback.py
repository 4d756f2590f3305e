"""What an author learns: numbers first, bounded, and nothing of held-out cases."""

import json

import pytest

from agents import feedback
from tools import findings
from tools.evaluation import CaseResult, Evaluation, Failure, TimedSize, Timing

SHOWN = CaseResult("fp32", False, False, 0.5, 0.25, [3, 1], 0.75, 1e-5, "wrong_numeric", "off", first_index=[0, 2])
GOOD = CaseResult("fp32", False, True)
HELD = CaseResult("secret-17", True, False, 123.456, 7.89, [42], 0.111, 1e-5, "wrong_numeric", "off by 123.456 at 42", [42])


def failed(*cases: CaseResult, **detail: object) -> Evaluation:
    error = Failure("wrong_numeric", cases[-1].message if cases else "broken", dict(detail))
    logs = {"stdout": "secret print", "stderr": ""}
    return Evaluation("sha", "t/t", verdict="wrong_numeric", stage="correctness", error=error, cases=list(cases), logs=logs)


def test_a_mismatch_is_reported_as_numbers() -> None:
    said = feedback.text(feedback.digest(failed(SHOWN)))
    assert (
        "Case fp32: wrong_numeric; max abs error 0.5, relative rms error 0.25, 25 % of elements wrong, "
        "first wrong index (0, 2), worst index (3, 1), tolerance 1e-05"
    ) in said


def test_a_held_out_failure_gives_no_number_no_name_and_no_log() -> None:
    digest = feedback.digest(failed(GOOD, HELD, case="secret-17", max_abs=123.456, traceback="at 42"))
    said = json.dumps(digest) + feedback.text(digest)
    assert "fails on inputs not shown" in said
    for secret in ("secret", "123.456", "7.89", "42", "0.111"):
        assert secret not in said


def test_a_held_out_case_that_left_no_result_is_hidden_by_its_name() -> None:
    evaluation = failed(case="secret-17", text="line 3: shape 42")
    evaluation.verdict, evaluation.compile = "compile_error", [{"target": "t", "kernels": [], "seconds": 1.0, "error": "shape 42"}]
    digest = feedback.digest(evaluation, frozenset({"secret-17"}))
    said = json.dumps(digest) + feedback.text(digest)
    assert digest["verdict"] == "compile_error"
    assert "secret" not in said
    assert "42" not in said


def test_the_reason_comes_first_and_the_rest_is_cut() -> None:
    evaluation = failed(SHOWN, traceback="T" * 100_000)
    evaluation.compile = [{"target": "t", "kernels": [], "seconds": 1.0, "error": "first line\n" + "E" * 100_000 + "\nlast line"}]
    said = feedback.text(feedback.digest(evaluation))
    assert len(said) <= feedback.MAX_TEXT
    assert said.startswith("Verdict: wrong_numeric")
    assert said.index("first line") < said.index("max abs error") < said.index("TTT")
    assert "last line" in said


@pytest.mark.parametrize("limit", [10, 100, 1000])
def test_text_keeps_any_limit(limit: int) -> None:
    assert len(feedback.text(feedback.digest(failed(*[SHOWN] * 50)), limit)) <= limit


def test_many_failing_cases_are_cut_to_a_few() -> None:
    assert len(feedback.digest(failed(*[SHOWN] * 50))["failing"]) == feedback.MAX_CASES


def test_timing_is_told_by_size() -> None:
    evaluation = Evaluation("sha", "t/t", verdict="pass", stage="timing", correct=True, cases=[GOOD])
    evaluation.timing = Timing("eager", [TimedSize("large", 10.0, 5.0, 2.0, [1.9, 2.1])], 2.0, [1.9, 2.1])
    said = feedback.text(feedback.digest(evaluation))
    assert "2.000x" in said
    assert "large: baseline 10.0 us, yours 5.0 us" in said
    assert "Cases passed: 1 of 1 shown" in said


def test_a_modelled_time_is_told_as_such_without_its_counts() -> None:
    evaluation = Evaluation("sha", "t/t", verdict="pass", correct=True, cases=[GOOD])
    size = {"case": "large", "baseline_us": 10.0, "candidate_us": 20.0, "speedup": 0.5, "bound": "cache", "launches": 2}
    evaluation.modelled = {"hardware": "Card", "speedup": 0.5, "bound": "cache", "sizes": [size], "counts": [{"launches": []}]}
    digest = feedback.digest(evaluation)
    assert "counts" not in digest["modelled"]
    said = feedback.text(digest)
    assert "Modelled for Card, not measured: 0.500x, bound by cache" in said
    assert "large: baseline 10.0 us, yours 20.0 us, launches 2, bound by cache" in said


def test_an_unknown_modelled_time_is_not_told() -> None:
    evaluation = Evaluation("sha", "t/t", verdict="pass", correct=True, cases=[GOOD])
    evaluation.modelled = {"label": "modelled, not measured", "speedup": None, "error": "not counted"}
    assert feedback.digest(evaluation)["modelled"] is None


def test_text_of_a_hostile_message_can_be_encoded() -> None:
    evaluation = failed(SHOWN)
    assert evaluation.error is not None
    evaluation.error.message = "\udcff" * 10
    feedback.text(feedback.digest(evaluation)).encode()


ACCESS = {"kernel": "add", "kind": "store", "tensor": "y", "index": 1000, "program": [7, 0, 0], "lanes": 24}
RACE = {"kernel": "add", "kind": "write_write", "tensor": "y", "index": 3, "programs": [[0, 0, 0], [1, 0, 0]], "lanes": 8}


def told(verdict: str, **fields: object) -> str:
    evaluation = Evaluation("sha", "t/t", verdict=verdict, cases=[GOOD])
    for name, value in fields.items():
        setattr(evaluation, name, value)
    return feedback.text(feedback.digest(evaluation))


def test_accesses_and_races_are_told_by_tensor_element_and_program_a_few_of_each() -> None:
    accesses = [ACCESS | {"index": 1000 + number} for number in range(64)]
    said = told("wrong_numeric", memory={"out_of_bounds": accesses, "races": [RACE] * 64, "advisories": ["Order is not judged."]})
    assert "add stores outside the memory of y, first at index 1000 in program [7, 0, 0]: 24 lanes" in said
    assert "programs [0, 0, 0] and [1, 0, 0] store different values to y[3] (8 lanes)" in said
    assert "Order is not judged." in said
    assert said.count("Found: ") == feedback.MAX_FINDINGS + 2


def test_a_finding_that_is_the_verdict_is_said_once() -> None:
    message = f"first {findings.race(RACE)}"
    said = told("data_race", error=Failure("data_race", message, dict(RACE)), memory={"out_of_bounds": [], "races": [RACE]})
    assert said.count("y[3]") == 1
    assert "lanes: 8" not in said


def test_a_red_zone_that_was_written_names_no_program() -> None:
    said = told("out_of_bounds", memory={"out_of_bounds": [ACCESS | {"program": [], "index": 0}], "races": []})
    assert "outside the memory of y: 24 bytes beside it were changed" in said


def test_what_torch_computes_is_told_and_what_is_free_is_not() -> None:
    rows = [{"op": "mul", "calls": 2, "elements": 8192, "compute": True}, {"op": "clone", "calls": 1, "elements": 10, "compute": False}]
    said = told("not_triton", torch_work=rows)
    assert "Computed by torch, not by a kernel of yours: mul (2 calls, 8192 elements)" in said
    assert "clone" not in said


@pytest.mark.parametrize(("least", "words"), [(1000, "3.00 times the least possible (1000)"), (None, "1000 stored; 2 launches")])
def test_traffic_is_held_against_the_least(least: int | None, words: str) -> None:
    memory = {"out_of_bounds": [], "races": [], "advisories": [], "sectors_loaded": 2000, "sectors_stored": 1000}
    assert words in told("pass", memory=memory | {"minimal_bytes": least, "flops": 5, "launches": 2})


def test_findings_on_inputs_not_shown_are_not_told() -> None:
    digest = feedback.digest(failed(GOOD, HELD, case="secret-17"))
    hidden = failed(GOOD, HELD, case="secret-17")
    hidden.memory = {"out_of_bounds": [ACCESS], "races": [RACE], "advisories": [], "sectors_loaded": 42, "sectors_stored": 42}
    assert feedback.digest(hidden) == digest
