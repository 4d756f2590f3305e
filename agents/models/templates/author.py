"""The author at work on one task: writes modules by their parameters, plants defects, and forms replies."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from agents.models.base import Brief, Identity
from agents.models.templates import emit, flaws, foreign, search
from agents.models.templates.calls import complete
from agents.models.templates.graph import Declined
from agents.models.templates.patterns import Traced
from agents.models.templates.search import Parameters
from agents.models.templates.trace import read
from benchmark.task import Task


@dataclass
class Author:
    """Writes for one task. What it knows of the task is its signature, the traced graph and the visible cases."""

    task: Task
    flaws: float
    seed: int

    def write(self, parameters: Parameters, core: bool = False) -> str:
        """The module; `core`: only what the visible cases need. Raises `Declined`."""
        known = patterns(self.task)
        return emit.write(self.task, [p for p in known if p.needed or not core], parameters)

    def fresh(self, parameters: Parameters, identity: Identity) -> str:
        """A module of the author's own, flawed with the probability that was asked for."""
        return self.flawed(self.write(parameters), parameters, identity)

    def flawed(self, source: str, parameters: Parameters, identity: Identity) -> str:
        rng = search.chance(identity, self.seed, "flaw")
        return flaws.plant(source, self.write(parameters, core=True), self.task, rng) if rng.random() < self.flaws else source

    def used(self, parameters: Parameters) -> list[str]:
        """The parameters that matter to the visible cases."""
        return search.used(self.write(parameters, core=True))

    def movable(self, parameters: Parameters, strategies: Sequence[str]) -> list[str]:
        """Those that the families allow to be changed. Raises `Declined` where there is none."""
        names = [name for name in self.used(parameters) if search.family(name, strategies)]
        if not names:
            raise Declined(f"none of its launch parameters belongs to {', '.join(strategies)}")
        return names

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


def candidate(strategy: str, rationale: str, source: str) -> str:
    return f"Strategy: {strategy}.\n{rationale}\n\n```python\n{source}```\n".replace("\n\n\n```", "\n\n```")


def labelled(**lines: str) -> str:
    """`Label: text.` lines, in the order given."""
    return "".join(f"{label.capitalize()}: {text}.\n" for label, text in lines.items())
