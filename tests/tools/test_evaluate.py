"""`python -m tools.evaluate`, by its exit codes and what it prints."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tools import evaluate as evaluating
from tools.evaluation import CaseResult, Evaluation, Failure, Timing

ROOT = Path(__file__).parents[2]
CANDIDATES = ROOT / "tests/tools/candidates"


def run(candidate: str | Path, *flags: str, task: str = "quick/softmax") -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "tools.evaluate", "--task", task, "--candidate", str(candidate), "--device", "simulated", *flags]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=120)


def test_passing_candidate_exits_0_and_prints_json():
    done = run(CANDIDATES / "honest/softmax.py", "--json")
    found = json.loads(done.stdout)
    assert (done.returncode, found["verdict"], done.stderr) == (0, "pass", "")
    assert not any(case["held_out"] for case in found["cases"])
    assert found["timing"] is None
    assert "clock" in found["no_timing"]
    assert found["isolation"]["level"] in ("full", "landlock")


def test_failing_candidate_exits_3_with_the_reason_for_a_reader():
    done = run(CANDIDATES / "hostile/zeros.py")
    assert done.returncode == 3
    assert "wrong_numeric" in done.stdout
    assert "100 %" in done.stdout


def test_candidate_that_is_no_text_is_a_verdict(tmp_path, evaluate):
    path = tmp_path / "binary.py"
    path.write_bytes(b"\xff\xfe\x00nonsense")
    assert evaluate(evaluating.read(str(path))).verdict == "syntax_error"


@pytest.mark.parametrize(
    ("flags", "words"),
    [
        (("--task", "quick/sotfmax"), "Did you mean 'quick/softmax'"),
        (("--task", "nothing/softmax"), "Unknown suite"),
        (("--candidate", "/nowhere/c.py"), "Cannot read the candidate"),
        (("--device", "abacus"), "Unknown device 'abacus'"),
        (("--target", "abacus:1"), "target"),
    ],
)
def test_mistake_of_the_users_exits_2_with_one_sentence(capsys, flags, words):
    base = {"--task": "quick/softmax", "--candidate": str(CANDIDATES / "hostile/zeros.py"), "--device": "simulated"}
    arguments = [part for pair in (base | {flags[0]: flags[1]}).items() for part in pair]
    assert evaluating.main(arguments) == 2
    printed = capsys.readouterr()
    assert words in printed.err
    assert "Traceback" not in printed.err
    assert printed.out == ""


@pytest.mark.parametrize(
    "flags",
    [
        ("--task", "quick/add"),
        ("--jobs", "a.jsonl"),
        ("--task", "quick/add", "--candidate", "a.py", "--jobs", "a.jsonl", "--out", "b.jsonl"),
        ("--task", "quick/add", "--candidate", "a.py", "--workers", "2"),
        ("--jobs", "a.jsonl", "--out", "b.jsonl", "--workers", "0"),
        ("--jobs", "a.jsonl", "--out", "b.jsonl", "--json"),
        ("--task", "quick/add", "--candidate", "a.py", "--baseline", "cublas"),
    ],
)
def test_options_that_do_not_go_together_exit_2(capsys, flags):
    with pytest.raises(SystemExit) as stopped:
        evaluating.main(list(flags))
    assert stopped.value.code == 2
    assert "Traceback" not in capsys.readouterr().err


def test_eager_is_always_a_baseline():
    def baselines(*flags: str) -> tuple[str, ...]:
        return evaluating.settings(evaluating.arguments(["--task", "quick/add", "--candidate", "a.py", *flags])).baselines

    assert baselines() == ("eager",)
    assert baselines("--baseline", "compile") == ("eager", "compile")
    assert baselines("--baseline", "eager", "--baseline", "compile") == ("eager", "compile")


def test_no_verdict_exits_4(tmp_path, capsys):
    source = (
        "import torch, triton, triton.language as tl\n"
        "@triton.jit\ndef k(y):\n    tl.store(y + tl.program_id(0) * 0, 0.0)\n"
        "def softmax(input, dim, dtype=None):\n    y = torch.empty_like(input)\n    k[(100000,)](y)\n    return y\n"
    )
    path = tmp_path / "many.py"
    path.write_text(source)
    assert evaluating.main(["--task", "quick/softmax", "--candidate", str(path), "--device", "simulated"]) == 4
    assert "unsupported" in capsys.readouterr().out


def test_held_out_failure_is_shown_without_numbers():
    record = Evaluation(
        "sha", "quick/x", verdict="wrong_numeric", stage="correctness", logs={"stdout": "secret", "stderr": "", "truncated": False}
    )
    record.cases = [CaseResult("a", False, True), CaseResult("b", True, False, max_abs=3.5, kind="wrong_numeric", message="off by 3.5")]
    record.error = Failure("wrong_numeric", "off by 3.5", {"case": "b", "max_abs": 3.5})
    text = json.dumps(record.public()) + "\n".join(evaluating.lines(record))
    assert "fails on inputs not shown" in text
    assert "3.5" not in text
    assert "secret" not in text


def test_measured_and_modelled_speed_have_their_names():
    record = Evaluation(
        "sha", "quick/x", verdict="pass", no_timing="no clock", modelled={"hardware": "H", "speedup": 1.5, "bound": "memory"}
    )
    text = "\n".join(evaluating.lines(record))
    assert "speedup: none (no clock)" in text
    assert "modelled, not measured: 1.50 on H, bound by memory" in text
    record.timing = Timing("eager", [], 2.0, [1.9, 2.1], compile_speedup=0.5, warm_speedup=1.7, noisy=True)
    measured = "speedup: 2.00 against eager (95 % 1.90 to 2.10), 0.50 against torch.compile, 1.70 with a warm cache, on a noisy host"
    assert measured in "\n".join(evaluating.lines(record))


def test_a_kernel_that_was_built_often_is_told_once():
    builds = [{"name": "rows", "registers": n, "spills": 0, "shared_bytes": 0, "occupancy": None} for n in (20, 16)]
    builds.append({"name": "sums", "registers": 12, "spills": 3, "shared_bytes": 0, "occupancy": 0.5})
    record = Evaluation("sha", "quick/x", compile=[{"target": "a:1", "kernels": builds, "seconds": 1.0, "error": None}])
    wanted = "compiled for a:1 in 1.00 s: rows (2 builds, registers 16 to 20, spills 0), sums (registers 12, spills 3, occupancy 0.5)"
    assert wanted in "\n".join(evaluating.lines(record))


def test_what_held_out_cases_print_is_never_public():
    record = Evaluation("sha", "quick/x", verdict="pass", logs={"stdout": "fine", "stderr": "", "truncated": False, "held_out": "secret"})
    assert record.public()["logs"] == {"stdout": "fine", "stderr": "", "truncated": False}
    assert record.logs["held_out"] == "secret"


def test_evaluation_survives_json():
    record = Evaluation("sha", "quick/x", verdict="compile_error", error=Failure("compile_error", "no", {"line": 3}))
    record.cases = [CaseResult("a", False, False, worst_index=[1, 2], first_index=[0, 1])]
    assert Evaluation.from_dict(json.loads(json.dumps(record.to_dict()))) == record


def test_evaluation_of_an_earlier_version_is_read():
    line = Evaluation("sha", "quick/x", cases=[CaseResult("a", False, False, worst_index=[1, 2])]).to_dict()
    del line["cases"][0]["first_index"]
    assert Evaluation.from_dict(line).cases[0].first_index is None
