"""A server's reply that is another run's: whoever asks what that run asked is told what it was told."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

from tests.experiments import cli


def recorded(run: Path) -> Callable[[dict[str, Any]], str]:
    replies = {}
    for call in cli.lines(run, "calls"):
        prompt = json.loads((run / "prompts" / f"{call['prompt_sha']}.json").read_text())
        reply = json.loads((run / "replies" / f"{call['reply_sha']}.json").read_text())
        replies[json.dumps(prompt["messages"])] = reply["text"]
    return lambda request: str(replies[json.dumps(request["messages"])])
