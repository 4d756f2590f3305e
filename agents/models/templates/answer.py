"""Answers every role in its normal format, from the brief alone."""

from collections.abc import Callable

from agents.models.base import Brief, Identity, Request
from agents.models.templates.author import Author
from agents.models.templates.graph import Declined
from agents.models.templates.menders import debug, repair
from agents.models.templates.planning import code, plan
from agents.models.templates.reviews import criticise, judge, reflect
from agents.models.templates.writers import improve, mutate, recombine, restructure

Part = Callable[[Author, Brief, Identity], str]
PARTS: dict[str, Part] = {
    "generator": repair,
    "repairer": repair,
    "optimiser": improve,
    "reflector": reflect,
    "planner": plan,
    "coder": code,
    "debugger": debug,
    "judge": judge,
    "critic": criticise,
    "mutator": mutate,
    "recombiner": recombine,
    "restructurer": restructure,
}
"""What each role does; who repairs writes afresh where nothing failed, and who improves where there is nothing to improve."""


def answer(author: Author, request: Request) -> str:
    """The reply's text. Raises `Declined`."""
    role = request.brief.role
    if role not in PARTS:
        raise Declined(f"the role {role} is not one that this author plays")
    return PARTS[role](author, request.brief, request.identity)
