"""From `model=` and `model_args` to a `Model`, with every mistake found before anything is asked."""

from collections.abc import Callable, Mapping
from difflib import get_close_matches
from typing import TYPE_CHECKING, Any

from agents.models.base import Model
from benchmark.errors import UserError

if TYPE_CHECKING:
    from benchmark.task import Task

EMBEDDED = ("templates",)
PLAIN = (*EMBEDDED, "replay", "batch")
"""Names that stand alone."""
FORMS = (
    "templates (embedded, needs no key), openai/NAME, anthropic/NAME, PROVIDER/NAME for any provider of litellm, "
    "replay with model_args.source=runs/RUN_ID, or batch with model_args.of=openai/NAME, anthropic/NAME or file"
)


def make(name: str, args: Mapping[str, Any], tasks: "Callable[[str], Task]") -> Model:
    """The model that the user typed. Checks its options and that its key is there; connects to nothing."""
    provider, slash, model = name.partition("/")
    if name == "templates":
        from agents.models.templates import Templates

        return Templates(dict(args), tasks)
    if name == "batch":
        from agents.models.batch import Batch

        return Batch(args)
    if name == "replay":
        from agents.models.replay import Replay

        return Replay(args)
    if not slash or not provider or not model:
        near = get_close_matches(provider, [*PLAIN, "openai", "anthropic"], n=1)
        hint = f" Did you mean {near[0] + ('' if near[0] in PLAIN else '/' + (model or 'NAME'))!r}?" if near else ""
        raise UserError(f"Unknown model {name!r}.{hint} Valid forms: {FORMS}.")
    if provider == "openai":
        from agents.models.openai import OpenAI

        return OpenAI(name, args)
    if provider == "anthropic":
        from agents.models.anthropic import Anthropic

        return Anthropic(name, args)
    from agents.models.litellm import LiteLLM

    return LiteLLM(name, args)
