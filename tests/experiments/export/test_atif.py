"""ATIF: the fields of its specification and no others, references that resolve, and totals that are those of our own books."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from benchmark.errors import UserError
from experiments import records
from experiments.export import atif
from experiments.runs import Run
from tests.experiments.export import stores

ROOT = {"schema_version", "session_id", "trajectory_id", "agent", "steps", "notes", "final_metrics", "extra", "subagent_trajectories"}
AGENT = {"name", "version", "model_name", "tool_definitions", "extra"}
STEP = {"step_id", "timestamp", "source", "message", "observation", "extra", "is_copied_context", "llm_call_count"}
AUTHOR = STEP | {"model_name", "reasoning_effort", "reasoning_content", "tool_calls", "metrics"}
"""Fields that only a step of source `agent` may have, beside those of all."""
METRICS = {"prompt_tokens", "completion_tokens", "cached_tokens", "cost_usd", "extra"}
FINAL = {"total_prompt_tokens", "total_completion_tokens", "total_cached_tokens", "total_cost_usd", "total_steps", "extra"}
CALL = {"tool_call_id", "function_name", "arguments", "extra"}
RESULT = {"source_call_id", "content", "subagent_trajectory_ref", "extra"}
GELU = f"{stores.GELU}@0"


@pytest.fixture
def run(tmp_path: Path) -> Run:
    return stores.run(tmp_path / "r")


@pytest.fixture
def document(run: Run) -> dict[str, Any]:
    return dict(atif.documents(run))[GELU]


def whole(document: dict[str, Any]) -> Iterator[dict[str, Any]]:
    yield document
    yield from document.get("subagent_trajectories", [])


def agents(document: dict[str, Any]) -> list[dict[str, Any]]:
    return [step for step in document["steps"] if step["source"] == "agent"]


def test_every_object_has_the_fields_of_the_specification_only(run: Run) -> None:
    for _, root in atif.documents(run):
        for part in whole(root):
            assert set(part) <= ROOT
            assert set(part["agent"]) <= AGENT
            assert set(part["final_metrics"]) <= FINAL
            for step in part["steps"]:
                assert set(step) <= (AUTHOR if step["source"] == "agent" else STEP)
                assert set(step.get("metrics", {})) <= METRICS
                assert all(set(call) <= CALL for call in step.get("tool_calls", []))
                assert all(set(result) <= RESULT for result in step.get("observation", {}).get("results", []))


def test_steps_are_numbered_from_one_in_each_trajectory(document: dict[str, Any]) -> None:
    for part in whole(document):
        assert [step["step_id"] for step in part["steps"]] == list(range(1, part["final_metrics"]["total_steps"] + 1))


def test_an_evaluation_is_a_tool_call_with_its_observation(document: dict[str, Any]) -> None:
    for step, source in zip(agents(document), (stores.WRONG, stores.RIGHT), strict=True):
        (call,), (result,) = step["tool_calls"], step["observation"]["results"]
        assert call["arguments"] == {"task": stores.GELU, "candidate": source}
        assert result["source_call_id"] == call["tool_call_id"]
        assert json.loads(result["content"])["verdict"] == result["extra"]["verdict"]
    assert [step["observation"]["results"][0]["extra"]["champion"] for step in agents(document)] == [False, True]


def test_an_observation_holds_nothing_of_cases_that_are_held_out(document: dict[str, Any]) -> None:
    content = agents(document)[0]["observation"]["results"][0]["content"]
    assert "fp32" in content
    assert "unseen" not in content
    assert "0.75" not in content


def test_a_step_answers_the_messages_from_its_context_on(document: dict[str, Any]) -> None:
    for step in agents(document):
        asked = document["steps"][step["extra"]["context_from"] - 1 : step["step_id"] - 1]
        assert [message["source"] for message in asked] == ["system", "user"]
    assert document["steps"][1]["message"] == "Write gelu."


def test_a_role_that_writes_no_candidate_is_an_embedded_subagent_that_is_referred_to(document: dict[str, Any]) -> None:
    (helper,) = document["subagent_trajectories"]
    references = [reference for step in document["steps"] for result in step.get("observation", {}).get("results", [])
                  for reference in result.get("subagent_trajectory_ref", [])]  # fmt: skip
    assert [reference["trajectory_id"] for reference in references] == [helper["trajectory_id"]]
    assert helper["agent"]["name"] == "kernelwright/geak/reflector"
    assert [step["message"] for step in helper["steps"]] == ["You write kernels.", "What went wrong?", "The factor is missing."]


def test_prompt_tokens_include_those_of_the_cache(document: dict[str, Any]) -> None:
    metrics = agents(document)[1]["metrics"]
    assert {key: metrics[key] for key in METRICS - {"extra"}} == {
        "prompt_tokens": 100, "completion_tokens": 50, "cached_tokens": 20, "cost_usd": stores.COST}  # fmt: skip


def test_tries_of_one_call_are_one_step_and_what_is_unknown_of_one_is_bounded_not_counted(document: dict[str, Any]) -> None:
    first = agents(document)[0]
    assert first["llm_call_count"] == 2
    assert first["extra"]["failed_tries"] == ["timeout"]
    assert set(first["metrics"]) == {"extra"}
    kept = {key: first["metrics"]["extra"][key] for key in ("tokens_at_least", "tokens_at_most", "usd_at_least", "usd_at_most")}
    assert kept == {"tokens_at_least": 150, "tokens_at_most": 1050, "usd_at_least": 0.25, "usd_at_most": 0.75}


def test_the_totals_are_those_of_the_books_with_subagents(run: Run) -> None:
    for name, document in atif.documents(run):
        calls = [call for call in run.calls if call["identity"]["trajectory"] == name]
        final, (least, most) = document["final_metrics"], records.dollars(calls)
        known = final["extra"].get("tokens", final["extra"].get("tokens_at_least"))
        assert known == records.tokens(calls)["total"]
        assert final.get("total_cost_usd", final["extra"].get("usd_at_least")) == least
        assert ("total_cost_usd" in final) == (least == most)


def test_a_variant_of_the_tuner_is_a_step_without_a_model(tmp_path: Path) -> None:
    tuned = dict(atif.documents(stores.tuned(tmp_path / "r")))[GELU]["steps"][-1]
    assert tuned["llm_call_count"] == 0
    assert "metrics" not in tuned
    assert tuned["observation"]["results"][0]["source_call_id"] == tuned["tool_calls"][0]["tool_call_id"]


def test_a_candidate_that_could_not_be_read_has_an_observation_but_no_tool_call(tmp_path: Path) -> None:
    step = agents(dict(atif.documents(stores.unread(tmp_path / "r")))[GELU])[0]
    assert "tool_calls" not in step
    assert step["observation"]["results"][0]["content"] == "no_code: no fenced block"


def test_earlier_turns_within_a_prompt_are_copies_with_their_tools_results(tmp_path: Path) -> None:
    system, user, earlier, answer = dict(atif.documents(stores.talked(tmp_path / "r")))[GELU]["steps"]
    assert [step["source"] for step in (system, user, earlier, answer)] == ["system", "user", "agent", "agent"]
    assert earlier["is_copied_context"]
    assert earlier["tool_calls"] == [{"tool_call_id": "t1", "function_name": "look", "arguments": {"at": "x"}}]
    assert earlier["observation"]["results"] == [{"source_call_id": "t1", "content": "seen"}]
    assert answer["reasoning_content"] == "hm"
    assert answer["tool_calls"] == [{"tool_call_id": "t2", "function_name": "look", "arguments": {"text": "{broken"}}]


def test_a_document_lies_under_the_run_and_its_task(run: Run, tmp_path: Path) -> None:
    assert atif.write([run], tmp_path / "out") == [f"{tmp_path / 'out'}: 2 trajectories in ATIF-v1.7, of 3 asked"]
    found = json.loads((tmp_path / "out" / "r" / f"{GELU}.json").read_text())
    assert found["extra"]["end_reason"] == "solved"


def test_a_run_without_records_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="nothing to write"):
        atif.write([stores.unanswered(tmp_path / "r")], tmp_path / "out")


def test_harbor_itself_accepts_the_documents(run: Run) -> None:
    models = pytest.importorskip("harbor.models.trajectories", reason="Harbor is not installed (Python 3.12, pip install harbor)")
    for _, document in atif.documents(run):
        assert models.Trajectory(**document).to_json_dict() == document
