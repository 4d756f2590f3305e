"""What is said: Jinja2 templates, one folder per role with `system.j2` and `user.j2`, and partials in `shared/`.

A prompt is a function of its variables and of the installed triton's version: no clock, no id, no path of the machine.
"""

import hashlib
import json
from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined, meta

from prompts import facts

FOLDER = Path(__file__).parent
FOLDERS = [FOLDER]
"""Where templates lie, ours first."""
PARTS = ("system", "user")


def add(folder: Path) -> None:
    """One more folder of templates. It changes none of ours: what its templates include is looked for in ours first, then beside them."""
    if folder not in FOLDERS:
        FOLDERS.append(folder)


def home(name: str) -> Path:
    """The folder that `name`.j2 is from."""
    return next((folder for folder in FOLDERS if (folder / f"{name}.j2").is_file()), FOLDER)


def environment(name: str = "") -> Environment:
    """What renders `name`. A third party's templates see ours and their own, never another's, so that no order of imports matters."""
    return environment_of(home(name))


@cache
def environment_of(folder: Path) -> Environment:
    loader = FileSystemLoader(list(dict.fromkeys([FOLDER, folder])))
    made = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    made.globals["triton"] = facts.told(version("triton"))
    return made


def render(name: str, **variables: Any) -> str:
    """The text of `name`.j2 (such as `generator/user`); a variable that the template needs and does not get is an error."""
    return environment(name).get_template(f"{name}.j2").render(**variables).strip() + "\n"


def messages(role: str, **variables: Any) -> tuple[dict[str, str], ...]:
    """A role's prompt: the part that is the same for all tasks first, so that providers can cache it."""
    return tuple({"role": part, "content": render(f"{role}/{part}", **variables)} for part in PARTS)


def needs(role: str) -> set[str]:
    """Names of the variables that a role's templates use, with all that they include."""
    made = environment(f"{role}/user")
    return set().union(*(meta.find_undeclared_variables(made.parse(text)) for text in sources(role).values()))


def sha(role: str) -> str:
    """Digest of a role's templates, with all that they include, and of the facts that these may tell."""
    told = (FOLDER / "facts.py").read_text(encoding="utf-8")
    return hashlib.sha256(json.dumps([sources(role), told], sort_keys=True).encode()).hexdigest()


def sources(role: str) -> dict[str, str]:
    """The text of every template that a role's prompt is made of, by name."""
    made, found, todo = environment(f"{role}/user"), {}, [f"{role}/{part}.j2" for part in PARTS]
    while todo:
        name = todo.pop()
        found[name] = read(made, name)
        todo += [other for other in meta.find_referenced_templates(made.parse(found[name])) if other and other not in found]
    return found


def read(made: Environment, name: str) -> str:
    assert made.loader is not None
    return made.loader.get_source(made, name)[0]
