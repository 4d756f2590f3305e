"""Models and temperatures of single roles, from the command line to the books."""

from pathlib import Path

import pytest

from benchmark.errors import UserError
from experiments.casting import cast
from tests.experiments import author, cli
from tests.experiments.warm import Warm
from tests.servers.wire import Fault, WireServer

LOCAL = {"base_url": "http://127.0.0.1:9/v1", "api_key_env": "KERNELWRIGHT_TEST_KEY"}


@pytest.fixture(autouse=True)
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KERNELWRIGHT_TEST_KEY", "none")


def nothing(_: str) -> None:
    raise AssertionError("no task is needed")


def test_a_role_that_keeps_the_model_keeps_its_options_but_for_its_own() -> None:
    found = cast({"reflector": {"model_args": {"temperature": 0.8}}}, "openai/a", {**LOCAL, "temperature": 0.1}, nothing)  # type: ignore[arg-type]
    assert (found["reflector"].name, found["reflector"].sampling) == ("openai/a", {"temperature": 0.8})


def test_another_model_takes_no_options_of_the_runs() -> None:
    found = cast({"reflector": {"model": "openai/b", "model_args": LOCAL}}, "openai/a", {**LOCAL, "temperature": 0.1}, nothing)  # type: ignore[arg-type]
    assert (found["reflector"].name, found["reflector"].sampling) == ("openai/b", {})


def test_roles_that_want_the_same_model_share_it() -> None:
    wanted = {"model": "openai/b", "model_args": LOCAL}
    found = cast({"reflector": wanted, "generator": wanted}, "openai/a", LOCAL, nothing)  # type: ignore[arg-type]
    assert found["reflector"] is found["generator"]


@pytest.mark.parametrize(
    ("asked", "name", "says"),
    [
        ({"planer": {"model": "templates"}}, "templates", "Did you mean 'planner'"),
        ({"planner": {"modle": "templates"}}, "templates", "roles.planner.model"),
        ({"planner": "templates"}, "templates", "roles.planner is a group of keys"),
        ({"planner": {"model": 3}}, "templates", "needs a model's name"),
        ({"planner": {"model_args": {"flaws": 0.5}}}, "replay", "it answers all roles"),
        ({"planner": {"model": "batch"}}, "templates", "it answers all roles"),
    ],
)
def test_a_mistake_is_one_sentence(asked: dict[str, object], name: str, says: str) -> None:
    with pytest.raises(UserError, match=says):
        cast(asked, name, {}, nothing)  # type: ignore[arg-type]


def test_each_role_is_asked_of_its_own_model_and_booked_there(warm: Warm, tmp_path: Path) -> None:
    with WireServer(author.right) as server:
        words = [
            "model=templates", "scaffold=geak", "rounds=2", "scaffold.descendants=1", "benchmark.tasks=[silu]", "model_args.flaws=1",
            "roles.reflector.model=openai/other", f"roles.reflector.model_args.base_url={server.openai_url}",
            "roles.reflector.model_args.temperature=0.8", f"runs_dir={tmp_path}", "run_id=r",
        ]  # fmt: skip
        done = warm.run(*words)
        assert done.returncode == 0, done.output
    calls = cli.lines(tmp_path / "r", "calls")
    by_role = {call["identity"]["role"]: (call["model_asked"], call["sampling"]["temperature"]) for call in calls}
    assert by_role == {"generator": ("templates", None), "reflector": ("openai/other", 0.8), "repairer": ("templates", None)}
    replayed = warm.run("model=replay", f"model_args.source={tmp_path / 'r'}", *words[1:5], f"runs_dir={tmp_path}", "run_id=again")
    assert replayed.returncode == 0, replayed.output
    assert [call["reply_sha"] is not None for call in cli.lines(tmp_path / "again", "calls")] == [True] * len(calls)


def test_a_role_whose_model_is_down_ends_the_run_though_others_answer(warm: Warm, tmp_path: Path) -> None:
    """Four in a row of one model are enough, whatever other models answered in between."""
    refused = Fault("status", 401)
    with WireServer(author.always_wrong) as server, WireServer(faults=lambda number, request: refused) as down:
        done = warm.run(
            *cli.asking(server, tmp_path), "scaffold=geak", "rounds=2", "scaffold.descendants=1", "benchmark.tasks=[silu]", "run_id=r",
            "seed=[0,1,2,3,4,5]", "concurrency=1", "roles.reflector.model=openai/other",
            f"roles.reflector.model_args.base_url={down.openai_url}",
        )  # fmt: skip
    assert done.returncode == 2
    assert "openai/other does not answer (auth)" in done.output
    assert len(down.requests) == 4
