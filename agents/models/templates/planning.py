"""A planner that anchors one change of launch parameters to the parent's lines, and a coder that carries a plan out."""

from collections.abc import Iterator
from dataclasses import asdict, replace

from agents.models.base import Brief, Identity
from agents.models.templates import search
from agents.models.templates.author import Author, candidate, labelled
from agents.models.templates.graph import Declined
from agents.models.templates.search import Parameters
from agents.models.templates.writers import sample


def plan(author: Author, brief: Brief, identity: Identity) -> str:
    """One step from the parent, unlike all that the brief shows or its lessons name. A module of another hand is to be written anew."""
    if brief.parent is None:
        raise Declined("there is no module to plan on")
    start = search.read(brief.parent)
    if start is None:
        return anew(author, brief, identity)
    first = identity.round + identity.lineage + identity.sample
    steps = search.neighbours(start, author.movable(start, brief.strategies), search.chance(identity, author.seed, "plan"), first)
    seen = {a.source.strip() for a in brief.ancestors}
    chosen = next((p for p in steps if not taught(start, p, brief) and author.write(p).strip() not in seen), None)
    if chosen is None:
        raise Declined("every step that this author knows has been tried")
    text = labelled(strategy=search.named(start, chosen, brief.strategies))
    for at, change, larger in edits(brief.parent, start, chosen):
        text += labelled(edit=f"lines {at}-{at}: {change}", expected=expected(brief), risk=RISKS[larger])
    return text


def taught(start: Parameters, chosen: Parameters, brief: Brief) -> bool:
    """Whether a lesson speaks of this step."""
    step = search.changes(start, chosen)
    return any(step in lesson for lesson in brief.lessons)


def edits(parent: str, start: Parameters, chosen: Parameters) -> Iterator[tuple[int, str, bool]]:
    """Line, change, and whether the constant grows."""
    lines = parent.splitlines()
    for name, old in asdict(start).items():
        new = getattr(chosen, name)
        if new != old:
            at = next(i for i, line in enumerate(lines, 1) if line.startswith(f"{name.upper()} = "))
            yield at, f"{name.upper()} = {old} -> {new}", new > old


def anew(author: Author, brief: Brief, identity: Identity) -> str:
    names = author.used(Parameters())
    chosen = next(search.fresh(names, search.chance(identity, author.seed, "plan"), first=False))
    change = ", ".join(f"{name.upper()} = {getattr(chosen, name)}" for name in names)
    last = len((brief.parent or "").splitlines())
    edit = f"lines 1-{last}: write the module anew with {change}"
    return labelled(
        strategy=f"{author.approach()}; {change}",
        edit=edit,
        expected=expected(brief),
        risk="what made the parent fast is lost",
    )


def expected(brief: Brief) -> str:
    """The number that should move. A critic of the author's own finds it again by its form."""
    speed = search.speed(brief.digest or {})
    return f"speedup above {speed:.3f}x" if speed is not None else "the same numbers in less time"


RISKS = {
    True: "more registers a program, and fewer programs where sizes are small",
    False: "more programs, each with less to do",
}


def code(author: Author, brief: Brief, identity: Identity) -> str:
    """The parent with the values that the plan's edits give to its constants. Of another's module, one of the author's own with them."""
    if brief.plan is None or brief.parent is None:
        return sample(author, brief, identity)
    wanted = search.stated("\n".join(edit.change for edit in brief.plan.edits))
    if not wanted:
        raise Declined("the plan gives no value to a launch parameter that this author knows")
    start = search.read(brief.parent)
    chosen = replace(start or Parameters(), **wanted)
    source = author.write(chosen) if start is None else search.edited(brief.parent, wanted)
    written = author.flawed(source, chosen, identity)
    change = search.changes(start or Parameters(), chosen)
    return candidate(brief.plan.strategy.rstrip(".") or change, f"As planned: {change or 'nothing to change'}.", written)
