"""Requests to the embedded author, and the modules in its replies."""

from agents import parsing
from agents.models.base import Brief, Identity, Reply, Request
from agents.models.templates import Templates
from tests.agents.templates.operators import SWISH


def model(flaws: float = 0.0, seed: int = 0, operator: object = SWISH) -> Templates:
    return Templates({"flaws": flaws, "seed": seed}, lambda _: operator)  # type: ignore[arg-type, return-value]


def request(role: str, round: int = 1, sample: int = 0, lineage: int = 0, **brief: object) -> Request:
    identity = Identity("run/own", role, round, lineage, sample)
    return Request(({"role": "user", "content": "Write it."},), identity, Brief("own/operator", role, **brief))  # type: ignore[arg-type]


async def ask(author: Templates, *args: object, **kwargs: object) -> Reply:
    return await author.complete(request(*args, **kwargs))  # type: ignore[arg-type]


def source(reply: Reply) -> str:
    parsed = parsing.code(reply.text, "operator")
    assert parsed.outcome == "ok"
    assert parsed.source is not None
    return parsed.source
