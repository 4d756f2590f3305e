"""`python -m agents.show`: every role's prompt as a run would send it."""

import json
from pathlib import Path

import pytest

import prompts
from agents import examples, roles, show
from agents.roles import ROLES
from experiments.store import RunStore

TASK = ["--task", "quick/softmax", "--hardware", "h100"]


@pytest.mark.parametrize("role", ROLES)
def test_every_role_is_shown(role: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert show.main(["--role", role, *TASK]) == 0
    said = capsys.readouterr().out
    assert said.startswith("----- system\n")
    assert "Define `softmax(" in said
    assert said.splitlines()[-1].startswith(f"----- {role} on quick/softmax: about ")
    assert said.splitlines()[-1].endswith(f"templates {prompts.sha(role)[:12]}")


def test_without_a_role_the_roles_are_listed_with_their_variables(capsys: pytest.CaptureFixture[str]) -> None:
    assert show.main([]) == 0
    said = capsys.readouterr().out
    assert [line.split()[0] for line in said.splitlines()[1:]] == list(ROLES)
    assert "candidate   note, rounds_left" in said


def test_what_is_given_takes_the_place_of_the_examples(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    parent, verdict = tmp_path / "parent.py", tmp_path / "verdict.json"
    parent.write_text("def softmax(input): mine\n")
    failing = examples.failing()
    failing.cases[0].case = "fp32"
    verdict.write_text(json.dumps(failing.public()))
    given = ["--parent", str(parent), "--evaluation", str(verdict), "--set", "rounds_left=0", "--set", "note=Cause: mine"]
    assert show.main(["--role", "repairer", *TASK, *given]) == 0
    said = capsys.readouterr().out
    for part in ("def softmax(input): mine", "Case fp32: wrong_numeric", "Cause: mine", "This is the last round."):
        assert part in said


def test_roles_of_a_module_that_is_imported_are_shown(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(roles, "ROLES", dict(ROLES))
    monkeypatch.setattr(prompts, "FOLDERS", list(prompts.FOLDERS))
    monkeypatch.syspath_prepend(str(tmp_path))
    (tmp_path / "theirs").mkdir()
    (tmp_path / "theirs/system.j2").write_text("You are theirs.")
    (tmp_path / "theirs/user.j2").write_text('{% include "shared/task.j2" %}')
    code = "from pathlib import Path\nfrom agents import roles\nroles.add(roles.Role('theirs', 'reflection'), Path(__file__).parent)\n"
    (tmp_path / "that_has_a_role.py").write_text(code)
    assert show.main(["--import", "that_has_a_role", "--role", "theirs", *TASK]) == 0
    said = capsys.readouterr().out
    assert "You are theirs." in said
    assert "Define `softmax(" in said


def test_the_messages_can_be_had_as_json(capsys: pytest.CaptureFixture[str]) -> None:
    assert show.main(["--role", "generator", "--json", *TASK]) == 0
    assert [message["role"] for message in json.loads(capsys.readouterr().out)] == ["system", "user"]


def test_a_prompt_has_the_name_by_which_a_run_keeps_it(tmp_path: Path) -> None:
    made = show.prompt(show.arguments(["--role", "generator", *TASK]))
    store = RunStore.create(tmp_path / "run", "", {}, {})
    try:
        assert store.put_prompt(list(made.messages), []) == made.sha
    finally:
        store.close()


@pytest.mark.parametrize(
    ("given", "said"),
    [
        (["--role", "optimizer", *TASK], "Unknown role 'optimizer'. Did you mean 'optimiser'?"),
        (["--role", "coder", "--task", "quick/sofmax"], "Did you mean 'quick/softmax'?"),
        (["--role", "coder", "--task", "quick/softmax", "--hardware", "h999"], "Unknown hardware 'h999'"),
        (["--role", "optimiser", *TASK, "--set", "rounds=1"], "Unknown variable of optimiser 'rounds'. Did you mean 'rounds_left'?"),
        (["--role", "optimiser", *TASK, "--set", "rounds_left"], "write it as --set rounds_left=0"),
        (["--import", "no_such_module", "--role", "coder", *TASK], "Cannot import 'no_such_module'"),
        (["--role", "coder", *TASK, "--parent", "nowhere.py"], "Cannot read 'nowhere.py'"),
        (["--role", "coder", *TASK, "--evaluation", __file__], "holds no evaluation"),
    ],
)
def test_a_mistake_is_a_sentence(given: list[str], said: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert show.main(given) == 2
    captured = capsys.readouterr()
    assert said in captured.err
    assert captured.out == ""


def test_a_role_alone_is_not_enough(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit, match="2"):
        show.main(["--role", "coder"])
    assert "give --role and --task" in capsys.readouterr().err
