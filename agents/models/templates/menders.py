"""Roles that mend what failed, from its source and the digest of its verdict: one defect, all else kept."""

import math
from dataclasses import asdict

from agents.models.base import Brief, Identity
from agents.models.templates import flaws, search
from agents.models.templates.author import Author, candidate
from agents.models.templates.graph import Declined
from agents.models.templates.search import Parameters
from agents.models.templates.writers import improve, sample

LAUNCHES = frozenset({"compile_error", "launch_error", "timeout", "oom"})
"""Verdicts that other launch parameters may mend."""


def repair(author: Author, brief: Brief, identity: Identity) -> str:
    """A child of the failing parent. A mended module is not flawed again. Without a parent and its digest, a fresh sample."""
    parameters = search.read(brief.parent or "")
    if brief.parent is None or not brief.digest or parameters is None:
        return sample(author, brief, identity)
    found = flaws.diagnose(brief.parent, brief.digest, author.write(parameters))
    if found is not None:
        flaw, mended = found
        return candidate(f"repair: {flaw.fix}", f"The verdict {brief.digest['verdict']} comes from this: {flaw.cause}.", mended)
    if brief.digest.get("verdict") in LAUNCHES:
        return smaller(author, brief, identity, parameters)
    if author.write(parameters).strip() == brief.parent.strip():
        raise Declined(f"its own module gives {brief.digest.get('verdict')}, and it knows no other way to write this operator")
    return sample(author, brief, identity)


def smaller(author: Author, brief: Brief, identity: Identity, parameters: Parameters) -> str:
    """The parent's module with the next smaller tiles."""
    rng = search.chance(identity, author.seed, "smaller")
    steps = search.neighbours(parameters, author.used(parameters), rng)
    chosen, source = author.unseen(brief, (p for p in steps if volume(p) < volume(parameters)), identity)
    return candidate(f"smaller launch: {search.changes(parameters, chosen)}", "The launch asks for more than the device gives.", source)


def volume(parameters: Parameters) -> int:
    """Elements in all kinds of tiles; `fill` is none of them."""
    return sum(math.prod(v) if isinstance(v, tuple) else v for n, v in asdict(parameters).items() if n != "fill")


def debug(author: Author, brief: Brief, identity: Identity) -> str:
    """As `repair`; where the parent is not of the author's own making, a step from the module that worked before it."""
    if brief.parent is not None and search.read(brief.parent) is None and search.best(brief.ancestors):
        return improve(author, brief, identity)
    return repair(author, brief, identity)
