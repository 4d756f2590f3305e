"""`model=batch model_args.of=openai/NAME|anthropic/NAME|file`: another model's requests, collected and handed in together."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from agents.models.base import Reply, Request
from agents.models.batches import anthropic, file, openai
from agents.models.batches.base import Endpoint
from benchmark.errors import UserError

FORMS = "openai/NAME, anthropic/NAME (half the price, within 24 hours) or file (requests.jsonl, which you answer)"


class Batch:
    """Goes by the name of the model that answers, as do its prices and records."""

    free = False

    def __init__(self, args: Mapping[str, Any]):
        of = str(args.get("of"))
        self.live: Any = live(of, {name: value for name, value in args.items() if name != "of"})
        self.name: str = self.live.name
        self.sampling: dict[str, Any] = self.live.sampling

    def endpoint(self, run: Path) -> Endpoint:
        """Where the batches of the run in this folder are handed in."""
        if self.name == "file":
            return file.Batches(self.live, run)
        return openai.Batches(self.live) if self.name.startswith("openai/") else anthropic.Batches(self.live)

    async def complete(self, request: Request) -> Reply:
        raise AssertionError("a batch answers no request by itself; agents.parking collects them")

    async def close(self) -> None:
        await self.live.close()


def live(of: str, args: Mapping[str, Any]) -> Any:
    """The model that answers."""
    provider, _, name = of.partition("/")
    if of == "file":
        return file.Author(args)
    if provider == "openai" and name:
        from agents.models.openai import OpenAI

        return OpenAI(of, args)
    if provider == "anthropic" and name:
        from agents.models.anthropic import Anthropic

        return Anthropic(of, args)
    raise UserError(f"model=batch needs model_args.of: {FORMS}{'' if of == 'None' else f'; not {of!r}'}.")
