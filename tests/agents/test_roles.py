"""Roles: a folder of prompts each, and a way to read the reply."""

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
