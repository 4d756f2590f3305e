"""Answers every role in its normal format, from the brief: candidates, repairs, improvements and reviews."""

import math
from collections.abc import Iterator
from dataclasses import asdict, dataclass

from agents.models.base import Brief, Identity, Request
from agents.models.templates import emit, flaws, foreign, search
from agents.models.templates.calls import complete
from agents.models.templates.graph import Declined
from agents.models.templates.patterns import Traced
from agents.models.templates.search import Parameters
from agents.models.templates.trace import read
from benchmark.task import Task

LAUNCHES = frozenset({"compile_error", "launch_error", "timeout", "oom"})
"""Verdicts that other launch parameters may mend."""


@dataclass
class Author:
    """Writes for one task. What it knows of the task is its signature, the traced graph and the visible cases."""

    task: Task
    flaws: float
    seed: int

    def answer(self, request: Request) -> str:
        """The reply's text. Raises `Declined`."""
        brief = request.brief
        if brief.role == "reflector":
            return self.review(brief)
        if brief.role == "optimiser" and (brief.ancestors or brief.parent):
            return self.improve(brief, request.identity)
        if brief.role in ("generator", "repairer", "optimiser"):
            return self.repair(brief, request.identity) if brief.parent and brief.digest else self.sample(brief, request.identity)
        raise Declined(f"the role {brief.role} is not one that this author plays")

    def write(self, parameters: Parameters, core: bool = False) -> str:
        """The module; `core`: only what the visible cases need."""
        known = patterns(self.task)
        return emit.write(self.task, [p for p in known if p.needed or not core], parameters)

    def fresh(self, parameters: Parameters, identity: Identity) -> str:
        """A module of the author's own, flawed with the probability that was asked for."""
        source, rng = self.write(parameters), search.chance(identity, self.seed, "flaw")
        return flaws.plant(source, self.write(parameters, core=True), self.task, rng) if rng.random() < self.flaws else source

    def sample(self, brief: Brief, identity: Identity) -> str:
        """A fresh candidate, unlike all that the brief shows."""
        names = self.used(Parameters())
        first = identity.round <= 1 and identity.lineage == 0 and identity.sample == 0
        parameters, source = self.unseen(brief, search.fresh(names, search.chance(identity, self.seed, "start"), first), identity)
        return candidate(f"{self.approach()}; {search.changes(Parameters(), parameters) or 'default launch parameters'}", "", source)

    def used(self, parameters: Parameters) -> list[str]:
        """The parameters that matter to the visible cases."""
        return search.used(self.write(parameters, core=True))

    def unseen(self, brief: Brief, proposals: Iterator[Parameters], identity: Identity) -> tuple[Parameters, str]:
        """The first proposal whose source no ancestor has."""
        seen = {a.source.strip() for a in brief.ancestors} | {(brief.parent or "").strip()}
        tried = set()
        for parameters in proposals:
            if parameters in tried:
                continue
            tried.add(parameters)
            source = self.fresh(parameters, identity)
            if source.strip() not in seen:
                return parameters, source
        raise Declined("every variant that this author knows has been tried")

    def repair(self, brief: Brief, identity: Identity) -> str:
        """A child of the failing parent: one defect mended, all else kept. A mended module is not flawed again."""
        assert brief.parent is not None
        assert brief.digest is not None
        parameters = search.read(brief.parent)
        if parameters is None:
            return self.sample(brief, identity)
        found = flaws.diagnose(brief.parent, brief.digest, self.write(parameters))
        if found is not None:
            flaw, mended = found
            return candidate(f"repair: {flaw.fix}", f"The verdict {brief.digest['verdict']} comes from this: {flaw.cause}.", mended)
        if brief.digest.get("verdict") in LAUNCHES:
            return self.smaller(brief, identity, parameters)
        if self.write(parameters).strip() == brief.parent.strip():
            raise Declined(f"its own module gives {brief.digest.get('verdict')}, and it knows no other way to write this operator")
        return self.sample(brief, identity)

    def smaller(self, brief: Brief, identity: Identity, parameters: Parameters) -> str:
        """The parent's module with the next smaller tiles."""
        names = self.used(parameters)
        rng = search.chance(identity, self.seed, "smaller")
        proposals = (p for p in search.neighbours(parameters, names, rng) if _volume(p) < _volume(parameters))
        chosen, source = self.unseen(brief, proposals, identity)
        return candidate(f"smaller launch: {search.changes(parameters, chosen)}", "The launch asks for more than the device gives.", source)

    def improve(self, brief: Brief, identity: Identity) -> str:
        """A step from the best ancestor's parameters."""
        start = search.best(brief.ancestors)
        source = start.source if start else brief.parent or ""
        parameters = search.read(source)
        if parameters is None:
            return self.sample(brief, identity)
        names = self.used(parameters)
        rng, first = search.chance(identity, self.seed, "step"), identity.lineage + identity.sample
        chosen, written = self.unseen(brief, search.neighbours(parameters, names, rng, first), identity)
        origin = f"from {start.attempt}" if start else "from the parent"
        return candidate(f"{origin}: {search.changes(parameters, chosen)}", "One step from the best module so far.", written)

    def review(self, brief: Brief) -> str:
        digest = brief.digest or {}
        if digest.get("verdict") == "pass":
            return self.review_speed(brief)
        numbers = "; ".join(_numbers(c) for c in digest.get("failing", [])[:2])
        evidence = f"verdict {digest.get('verdict', 'unknown')}" + (f", {numbers}" if numbers else "")
        parameters = search.read(brief.parent or "")
        found = flaws.diagnose(brief.parent or "", digest, self.write(parameters)) if parameters and digest else None
        if found is None:
            return lines(
                f"not visible in the source ({evidence})",
                "write the module anew with other launch parameters",
                "check masks and dtypes first",
            )
        flaw, _ = found
        return lines(f"{flaw.cause} ({evidence})", flaw.fix, f"never forget: {flaw.fix}")

    def review_speed(self, brief: Brief) -> str:
        digest = brief.digest or {}
        speedup = digest.get("speedup")
        measured = f"{speedup:.3f}x against the baseline" if speedup is not None else "no measurement"
        slowest = min(digest.get("sizes", []), key=lambda s: s["speedup"], default=None)
        where = f", slowest at {slowest['case']} with {slowest['speedup']:.2f}x" if slowest else ""
        names = ", ".join(self.used(Parameters())) or "launch parameters"
        return lines(
            f"memory traffic and launches: {measured}{where}", f"move one of {names} by a factor of two", f"only {names} matter here"
        )

    def approach(self) -> str:
        core = self.write(Parameters(), core=True)
        return ", ".join(text for helper, text in APPROACHES.items() if f"    {helper}(" in core)


def patterns(task: Task) -> list[Traced]:
    """What the visible cases show. It takes seconds, so a process reads each task once, whatever it runs."""
    if task.sha not in _known:
        reference = foreign.reference(task)
        _known[task.sha] = read(reference, [complete(reference, foreign.arguments(task, c)) for c in task.cases if not c.held_out])
    return _known[task.sha]


_known: dict[str, list[Traced]] = {}


APPROACHES = {
    "_elementwise": "one fused elementwise kernel",
    "_pointwise": "fused pointwise kernels over strided operands",
    "_rows": "fused row reductions, one pass where a row fits",
    "_matmul": "a tiled product with its epilogue fused",
}


def _numbers(case: dict[str, object]) -> str:
    parts = [f"{k.replace('_', ' ')} {case[k]:.3g}" for k in ("max_abs", "rel_rms", "wrong") if isinstance(case.get(k), float)]
    return f"{case.get('case')}: {', '.join(parts) or case.get('kind')}"


def _volume(parameters: Parameters) -> int:
    """Elements in all kinds of tiles; `fill` is none of them."""
    return sum(math.prod(v) if isinstance(v, tuple) else v for n, v in asdict(parameters).items() if n != "fill")


def candidate(strategy: str, rationale: str, source: str) -> str:
    return f"Strategy: {strategy}.\n{rationale}\n\n```python\n{source}```\n".replace("\n\n\n```", "\n\n```")


def lines(cause: str, fix: str, lesson: str) -> str:
    return f"Cause: {cause}.\nFix: {fix}.\nLesson: {lesson}.\n"
