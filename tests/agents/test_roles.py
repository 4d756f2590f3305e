"""Roles: a folder of prompts each, and a way to read the reply."""

import shutil
from pathlib import Path

import pytest

import prompts
from agents import roles
from benchmark.errors import UserError


def test_every_role_has_its_templates_and_every_folder_its_role() -> None:
    folders = {path.parent.name for path in Path(prompts.__file__).parent.glob("*/user.j2")}
    assert folders == set(roles.ROLES)


def test_an_unknown_role_is_a_sentence_with_the_choices() -> None:
    with pytest.raises(UserError, match=r"Unknown role 'reflecter'\. Did you mean 'reflector'"):
        roles.find("reflecter")


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Templates of a role `architect`, with a part that has the name of one of ours."""
    monkeypatch.setattr(roles, "ROLES", dict(roles.ROLES))
    monkeypatch.setattr(prompts, "FOLDERS", list(prompts.FOLDERS))
    for name, text in (("architect/system", "Be brief."), ("architect/user", TEXT), ("architect/more", "Mine."), ("shared/rounds", "Bad.")):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / f"{name}.j2").write_text(text)
    return tmp_path


TEXT = '{% include "architect/more.j2" %}{% include "shared/rounds.j2" %}'
ARCHITECT = roles.Role("architect", "reflection", {"rounds_left": 1})


def test_a_role_that_is_added_renders_from_its_folder_and_ours_before_it(folder: Path) -> None:
    before = prompts.sha("generator")
    roles.add(ARCHITECT, folder)
    roles.add(ARCHITECT, folder)
    assert roles.find("architect") is ARCHITECT
    assert prompts.render("architect/user", rounds_left=0) == "Mine.\nThis is the last round.\n"
    assert prompts.needs("architect") == {"rounds_left"}
    assert prompts.sha("generator") == before


def test_the_hash_of_an_added_role_follows_its_templates(folder: Path) -> None:
    roles.add(ARCHITECT, folder)
    before = prompts.sha("architect")
    (folder / "architect/more.j2").write_text("Mine too.")
    assert prompts.sha("architect") != before


@pytest.mark.parametrize(
    ("name", "says"), [("generator", "Role 'generator' of {new} is already one of {old}"), ("builder", "{new}/builder")]
)
def test_a_name_that_is_taken_or_has_no_templates_is_a_sentence(folder: Path, name: str, says: str) -> None:
    with pytest.raises(UserError) as raised:
        roles.add(roles.Role(name, "candidate"), folder)
    assert says.format(new=folder, old=prompts.FOLDER) in str(raised.value)


def test_two_plugins_neither_share_a_name_nor_see_each_others_parts(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    other = tmp_path_factory.mktemp("other")
    shutil.copytree(folder, other, dirs_exist_ok=True)
    (other / "architect").rename(other / "builder")
    (other / "builder/user.j2").write_text('{% include "mine.j2" %}')
    (other / "mine.j2").write_text("Other.")
    (folder / "mine.j2").write_text("First.")
    roles.add(ARCHITECT, folder)
    roles.add(roles.Role("builder", "reflection"), other)
    assert prompts.render("builder/user") == "Other.\n"
    (other / "architect").mkdir()
    with pytest.raises(UserError, match="already one of"):
        roles.add(ARCHITECT, other)
