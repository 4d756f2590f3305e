"""Roles that write from what passes: a fresh sample, a step from the best or from one parent, a mixture of two, a leap."""

from collections.abc import Iterator, Sequence
from dataclasses import replace

from agents.models.base import Ancestor, Brief, Identity
from agents.models.templates import search
from agents.models.templates.author import Author, candidate
from agents.models.templates.search import Parameters

MIXTURES = 64
"""Random mixtures of two parents that are looked at, before steps from one of them."""


def sample(author: Author, brief: Brief, identity: Identity) -> str:
    """A fresh candidate, unlike all that the brief shows."""
    first = identity.round <= 1 and identity.lineage == 0 and identity.sample == 0
    proposals = search.fresh(author.used(Parameters()), search.chance(identity, author.seed, "start"), first)
    parameters, source = author.unseen(brief, proposals, identity)
    return candidate(f"{author.approach()}; {search.changes(Parameters(), parameters) or 'default launch parameters'}", "", source)


def improve(author: Author, brief: Brief, identity: Identity) -> str:
    """A step from the best ancestor's parameters that led to nothing before."""
    start = search.best(brief.ancestors)
    parameters = search.read(start.source if start else brief.parent or "")
    if parameters is None:
        return sample(author, brief, identity)
    origin = f"from {start.attempt}" if start else "from the parent"

    def strategy(chosen: Parameters) -> str:
        return f"{origin}: {search.changes(parameters, chosen)}"

    rng, first = search.chance(identity, author.seed, "step"), identity.lineage + identity.sample
    steps = search.neighbours(parameters, author.used(parameters), rng, first)
    untried = (step for step in steps if not any(line.startswith(f"{strategy(step)}: ") for line in brief.tried))
    chosen, written = author.unseen(brief, untried, identity)
    return candidate(strategy(chosen), "One step from the best module so far.", written)


def mutate(author: Author, brief: Brief, identity: Identity) -> str:
    """A step from the parent, within the families that the brief allows."""
    parameters = search.read(brief.parent or "")
    if parameters is None:
        return improve(author, brief, identity)
    names = author.movable(parameters, brief.strategies)
    first = identity.round + identity.lineage + identity.sample
    steps = search.neighbours(parameters, names, search.chance(identity, author.seed, "mutation"), first)
    chosen, written = author.unseen(brief, steps, identity)
    return candidate(search.named(parameters, chosen, brief.strategies), "One step from the parent.", written)


def recombine(author: Author, brief: Brief, identity: Identity) -> str:
    """Each parameter from one of two ancestors; where every mixture is one of them, a step from the better one."""
    ours = [(a, parameters) for a in brief.ancestors if (parameters := search.read(a.source)) is not None]
    if len(ours) < 2:
        return improve(author, brief, identity)
    (a, one), (b, other) = ours[:2]
    names, rng = author.used(one), search.chance(identity, author.seed, "mixture")

    def proposals() -> Iterator[Parameters]:
        for _ in range(MIXTURES):
            mixed = replace(one, **{n: getattr(rng.choice((one, other)), n) for n in names})
            if mixed not in (one, other):
                yield mixed
        better = one if search.best([a, b]) is a else other
        yield from search.neighbours(better, names, rng, identity.lineage + identity.sample)

    chosen, written = author.unseen(brief, proposals(), identity)
    return candidate(mixture(chosen, (a, one), (b, other), names), "Parameters of both parents in one module.", written)


def mixture(child: Parameters, a: tuple[Ancestor, Parameters], b: tuple[Ancestor, Parameters], names: Sequence[str]) -> str:
    """What comes from whom; a parameter that neither parent has is a step."""
    origins = []
    for name in (n for n in names if getattr(a[1], n) != getattr(b[1], n) or getattr(child, n) != getattr(a[1], n)):
        value = getattr(child, name)
        origin = next((f"from {ancestor.attempt}" for ancestor, p in (a, b) if getattr(p, name) == value), "of its own")
        origins.append(f"{name} {value} {origin}")
    return f"launch parameters of {a[0].attempt} and {b[0].attempt}: {', '.join(origins)}"


def restructure(author: Author, brief: Brief, identity: Identity) -> str:
    """A module whose parameters lie far from the parent's: in the families of the brief where one of its parameters belongs to them."""
    start = search.best(brief.ancestors)
    parameters = search.read(brief.parent or (start.source if start else ""))
    if parameters is None:
        return sample(author, brief, identity)
    used = author.used(parameters)
    names = [name for name in used if search.family(name, brief.strategies)] or used
    leaps = search.leaps(parameters, names, used, search.chance(identity, author.seed, "leap"))
    chosen, written = author.unseen(brief, leaps, identity)
    return candidate(search.named(parameters, chosen, brief.strategies), f"Far from the parent: {author.approach()}.", written)
