"""What an author learns: numbers first, bounded, and nothing of held-out cases."""

import json
from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents import digest, examples, feedback
from tools import findings
from tools.evaluation import VERDICTS, CaseResult, Evaluation, Failure, TimedSize, Timing

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
    assert feedback.count(said) <= feedback.MAX_TOKENS
    assert said.startswith("Verdict: wrong_numeric")
    assert said.index("first line") < said.index("max abs error") < said.index("TTT")
    assert "last line" in said


def test_many_failing_cases_are_cut_to_a_few() -> None:
    assert len(feedback.digest(failed(*[SHOWN] * 50))["failing"]) == digest.MAX_CASES


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
    assert said.count("Found: ") == digest.MAX_FINDINGS + 2


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


COUNTED = {
    "kernel": "add", "us": 100.0, "memory": 0.83, "l2": 0.4, "l1": None, "multiprocessor": 0.2, "matrix": None, "occupancy": 0.45,
    "waves": 3.2, "registers": 64.0, "sectors_per_request": 8.0, "stalls": {"barriers": 1.0, "device memory": 12.3},
    "bottleneck": "bandwidth of device memory",
}  # fmt: skip


def test_a_measured_size_is_told_with_what_it_reaches() -> None:
    said = feedback.text(feedback.digest(examples.passing()))
    assert "large: baseline 310.0 us, yours 172.0 us, 1.80x; 1561 GB/s, 32 % of the roofline (memory bandwidth)" in said
    assert "Device time by kernel: rows_kernel 99 %, fill 1 % (not yours)" in said
    assert "Built rows_kernel: 56 registers, 128 bytes of shared memory, occupancy 56 %" in said


def test_the_bottleneck_is_told_with_its_counters_before_the_time_by_kernel() -> None:
    evaluation = examples.passing()
    assert evaluation.profile is not None
    evaluation.profile["ncu"] = {"launches": [COUNTED]}
    made = feedback.digest(evaluation)
    assert made["ncu"] == "bandwidth of device memory"
    said = feedback.text(made)
    assert "Profiled: add: bottleneck bandwidth of device memory; device memory 83 %, L2 40 %, instructions 20 %, occupancy 45 %," in said
    assert "sectors per load 8, waits for device memory 12.3 cycles an instruction, waits for barriers 1.0" in said
    assert said.index("Profiled") < said.index("Device time by kernel")


def test_a_profile_that_failed_is_not_told() -> None:
    evaluation = examples.passing()
    evaluation.profile = {part: {"error": "it hung"} for part in ("roofline", "kernels", "ncu")}
    made = feedback.digest(evaluation)
    assert (made["roofline"], made["ncu"], made["profile"]) == ([], None, None)
    assert "it hung" not in feedback.text(made)


def test_a_kernel_built_several_times_is_one_row_of_what_it_needs_most() -> None:
    evaluation = examples.passing()
    row = {"name": "k", "registers": 32, "spills": 0, "shared_bytes": 0, "occupancy": 1.0}
    evaluation.compile[0]["kernels"] = [
        row,
        row | {"registers": 255, "spills": 12, "occupancy": 0.25},
        row | {"held_out": True, "spills": 99},
    ]
    assert feedback.digest(evaluation)["kernels"] == [row | {"registers": 255, "spills": 12, "occupancy": 0.25}]
    assert "Built k: 255 registers, 12 words spilled, occupancy 25 %" in feedback.text(feedback.digest(evaluation))


def test_what_is_cut_comes_last_and_is_said() -> None:
    made = feedback.digest(failed(*[SHOWN] * 4, traceback="T" * 1000))
    whole, cut = feedback.text(made), feedback.text(made, 200)
    assert feedback.CUT not in whole
    assert cut.endswith(feedback.CUT)
    assert cut.splitlines()[:3] == whole.splitlines()[:3]


words = st.text(max_size=3000)
shares, indices = st.none() | st.floats(0, 1), st.none() | st.lists(st.integers(0, 9999), max_size=4)
cases = st.builds(
    CaseResult, st.text(max_size=20), st.booleans(), st.booleans(), shares, shares, indices, shares, shares, st.just("wrong_numeric"), words
)
failures = st.builds(Failure, st.sampled_from(VERDICTS), words, st.dictionaries(st.text(max_size=9), words, max_size=3))
passed = st.just(examples.passing()).map(lambda one: replace(one, profile={**(one.profile or {}), "ncu": {"launches": [COUNTED] * 9}}))
evaluations: st.SearchStrategy[Evaluation] = passed | st.builds(
    lambda verdict, error, cases, text: Evaluation(
        "", "", verdict=verdict, stage="correctness", error=error, cases=cases,
        compile=[{"target": "t", "kernels": [], "seconds": 1.0, "error": text or None}],
    ),
    st.sampled_from(VERDICTS), failures, st.lists(cases, max_size=6), words,
)  # fmt: skip


@given(evaluations, st.integers(64, 3000))
def test_any_text_is_bounded_begins_with_the_verdict_and_keeps_what_is_most_useful(evaluation: Evaluation, tokens: int) -> None:
    made = feedback.digest(evaluation)
    said = feedback.text(made, tokens)
    assert feedback.count(said) <= tokens
    assert said.startswith(f"Verdict: {evaluation.verdict}")
    first = (feedback.readable(part) for part in list(feedback.told(made))[1:2])
    assert all(part[:8] in said for part in first)


@given(evaluations)
def test_no_text_tells_of_a_case_that_is_held_out(evaluation: Evaluation) -> None:
    secret = CaseResult("s3cret", True, False, 987.654, 0.5, [31337], 0.1, 1e-5, "wrong_numeric", "s3cret off by 987.654", [31337])
    evaluation = replace(evaluation, cases=[*evaluation.cases, secret])
    if all(case.ok for case in evaluation.cases if not case.held_out):
        evaluation.error = Failure("wrong_numeric", secret.message, {"case": "s3cret", "max_abs": 987.654})
        evaluation.compile = [{"target": "t", "kernels": [], "seconds": 1.0, "error": "shape 31337"}]
    made: dict[str, Any] = feedback.digest(evaluation)
    for word in ("s3cret", "987.654", "31337"):
        assert word not in json.dumps(made) + feedback.text(made)
