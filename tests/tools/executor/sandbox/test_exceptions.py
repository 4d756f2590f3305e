from pathlib import Path

import pytest
import torch

from tools.executor.sandbox.exceptions import describe
from tools.simulated import CompileFailed, Unsupported

HERE = Path(__file__).parent


def test_detail_of_our_own_exceptions_is_told():
    found = describe(CompileFailed("no", line=7, rule="type mismatch"), HERE)
    assert (found["kind"], found["message"]) == ("compile_error", "no")
    assert found["detail"].items() >= {"line": 7, "rule": "type mismatch"}.items()


@pytest.mark.parametrize(
    ("error", "kind"),
    [
        (Unsupported("x"), "unsupported"),
        (torch.OutOfMemoryError("x"), "oom"),
        (MemoryError(), "oom"),
        (KeyError("x"), "runtime_error"),
    ],
)
def test_kind_follows_who_made_the_exception(error, kind):
    assert describe(error, HERE)["kind"] == kind


def test_a_class_of_the_same_name_is_only_an_error():
    theirs = type("Unsupported", (Exception,), {"detail": {"line": 7}, "__module__": "candidate"})
    found = describe(theirs("no"), HERE)
    assert (found["kind"], found["detail"]["type"]) == ("runtime_error", "Unsupported")
    assert "line" not in found["detail"]


def test_lines_of_the_candidates_own_file_are_told():
    def fail():
        raise ValueError("deep")

    with pytest.raises(ValueError) as raised:
        fail()
    assert "in fail: raise ValueError" in describe(raised.value, HERE)["detail"]["traceback"]
    assert describe(raised.value, Path("/nowhere"))["detail"]["traceback"] == ""
