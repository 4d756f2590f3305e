"""Options are checked while a scaffold's dataclass is built."""

from dataclasses import dataclass
from typing import Any, Literal

import pytest

from benchmark.errors import UserError
from scaffolds.options import documented, fill


@dataclass
class Config:
    mode: Literal["pool", "reflexion"] = "pool"
    count: int = 1
    share: float = 0.5
    name: str | None = None
    on: bool = False
    tags: tuple[str, ...] = ()
    sizes: list[int] | None = None


@dataclass
class Documented:
    wide: int = 1
    """How wide.
    In two lines."""
    plain: int = 2


@pytest.mark.parametrize(
    ("values", "made"),
    [
        ({"mode": "reflexion"}, Config(mode="reflexion")),
        ({"share": 1}, Config(share=1.0)),
        ({"name": None}, Config()),
        ({"name": "x", "on": True}, Config(name="x", on=True)),
        ({"tags": ["a", "b"]}, Config(tags=("a", "b"))),
        ({"sizes": [1, 2]}, Config(sizes=[1, 2])),
    ],
)
def test_values_that_fit_are_taken(values: dict[str, Any], made: Config) -> None:
    assert fill(Config, values) == made


@pytest.mark.parametrize(
    ("values", "sentence"),
    [
        ({"mode": "pol"}, "scaffold.mode must be one of pool, reflexion, not 'pol'."),
        ({"count": 1.5}, "scaffold.count must be a whole number, not 1.5."),
        ({"count": True}, "scaffold.count must be a whole number, not True."),
        ({"share": "half"}, "scaffold.share must be a number, not 'half'."),
        ({"name": 3}, "scaffold.name must be text or null, not 3."),
        ({"on": 1}, "scaffold.on must be true or false, not 1."),
        ({"sizes": ["a"]}, "scaffold.sizes must be a whole number, not 'a'."),
        ({"cuont": 1}, "Unknown option 'scaffold.cuont'. Did you mean 'scaffold.count'?"),
    ],
)
def test_values_that_do_not_fit_are_one_sentence(values: dict[str, Any], sentence: str) -> None:
    with pytest.raises(UserError) as raised:
        fill(Config, values)
    assert str(raised.value).startswith(sentence)


def test_the_string_below_a_field_is_what_is_said_of_it() -> None:
    assert documented(Documented) == {"wide": "How wide. In two lines."}


def test_a_class_without_a_source_says_nothing() -> None:
    assert documented(type("Made", (), {})) == {}
