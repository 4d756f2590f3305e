"""`model=batch`: every mistake is one sentence, and the provider's own options are passed on."""

from pathlib import Path
from typing import Any

import pytest

from agents.models import make
from agents.models.batch import Batch
from agents.models.batches import anthropic, file, openai
from benchmark.errors import UserError
from tests.agents.memory import no_tasks, request

LOCAL = "http://127.0.0.1:1/v1"


def refuse(**args: Any) -> str:
    with pytest.raises(UserError) as caught:
        make("batch", args, no_tasks)
    return str(caught.value)


@pytest.mark.parametrize("args", [{}, {"of": "gpt-5"}, {"of": "openai/"}, {"of": "gemini/pro"}, {"of": 3}])
def test_what_batches_cannot_be_made_of_is_told_with_the_choices(args: dict[str, Any]) -> None:
    said = refuse(**args)
    assert "model_args.of" in said
    assert all(choice in said for choice in ("openai/NAME", "anthropic/NAME", "file"))


def test_the_providers_own_options_are_checked_by_it() -> None:
    assert "Did you mean 'base_url'?" in refuse(of="openai/m", base_ulr=LOCAL)
    assert "base_url" in refuse(of="file", base_url=LOCAL)
    assert refuse(of="anthropic/m").startswith("Set ANTHROPIC_API_KEY ")


@pytest.mark.parametrize(("of", "kind"), [("openai/m", openai.Batches), ("anthropic/m", anthropic.Batches), ("file", file.Batches)])
def test_it_goes_by_the_name_of_what_answers(of: str, kind: type, tmp_path: Path) -> None:
    model = make("batch", {"of": of, "max_tokens": 7, **({} if of == "file" else {"base_url": LOCAL})}, no_tasks)
    assert isinstance(model, Batch)
    assert (model.name, model.sampling, model.free) == (of, {"max_tokens": 7}, False)
    assert isinstance(model.endpoint(tmp_path), kind)


def test_the_responses_api_has_batches_of_its_own(tmp_path: Path) -> None:
    model = make("batch", {"of": "openai/m", "base_url": LOCAL, "api": "responses"}, no_tasks)
    assert isinstance(model, Batch)
    line = model.endpoint(tmp_path).line("x", request())
    assert line["url"] == "/v1/responses"
    assert "input" in line["body"]
