"""What is said: Jinja2 templates, one folder per role with `system.j2` and `user.j2`, and partials in `shared/`.

A prompt is a function of its variables and of the installed triton's version: no clock, no id, no path of the machine.
"""

from functools import cache
from importlib.metadata import version
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined


@cache
def environment() -> Environment:
    loader = FileSystemLoader(Path(__file__).parent)
    made = Environment(loader=loader, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True, keep_trailing_newline=True)
    made.globals["triton_version"] = version("triton")
    return made


def render(name: str, **variables: Any) -> str:
    """The text of `name`.j2 (such as `generator/user`); a variable that the template needs and does not get is an error."""
    return environment().get_template(f"{name}.j2").render(**variables).strip() + "\n"


def messages(role: str, **variables: Any) -> tuple[dict[str, str], ...]:
    """A role's prompt: the part that is the same for all tasks first, so that providers can cache it."""
    return tuple({"role": part, "content": render(f"{role}/{part}", **variables)} for part in ("system", "user"))
