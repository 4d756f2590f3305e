import torch

from benchmark import source
from benchmark.suites.kernelbench_x._out import into


def _inner(x: torch.Tensor) -> torch.Tensor:
    return x + 1


def _helper(x: torch.Tensor) -> torch.Tensor:
    return _inner(x) * 2


def reference(x: torch.Tensor) -> torch.Tensor:
    return [_helper(item) for item in [torch.relu(x)]][0]  # noqa: RUF015


def test_helpers_of_the_module_come_before_the_function() -> None:
    text = source.complete(reference)
    assert [line for line in text.splitlines() if line.startswith("def ")] == [
        "def _inner(x: torch.Tensor) -> torch.Tensor:",
        "def _helper(x: torch.Tensor) -> torch.Tensor:",
        "def reference(x: torch.Tensor) -> torch.Tensor:",
    ]


def test_the_text_runs_by_itself() -> None:
    space: dict = {"torch": torch}
    exec(source.complete(reference), space)
    assert space["reference"](torch.tensor(3.0)) == 8


def test_helpers_of_the_suites_are_taken_in_from_other_modules() -> None:
    def call(x: torch.Tensor) -> torch.Tensor:
        return into(x, None)

    assert "def into(" in source.complete(call)


def test_the_judges_have_a_digest() -> None:
    assert len(source.judges()) == 64


def relu(x: torch.Tensor) -> torch.Tensor:
    return x


def test_an_attribute_is_no_helper_of_the_same_name() -> None:
    def call(x: torch.Tensor) -> torch.Tensor:
        return torch.relu(x)

    assert "def relu(" not in source.complete(call)
