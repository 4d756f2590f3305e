"""Examples for prompts: verified kernels of other operators, found by BM25 and checked that they give no solution away.

They are for models that read prompts. No brief holds one, so that the embedded model never sees them.
"""

import ast
import math
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

from agents.syntax import parse
from benchmark import suites
from benchmark.errors import UserError

if TYPE_CHECKING:
    from benchmark.task import Task

MAX_SOURCE = 6000
"""Characters of an example, about 1,800 tokens; all of our own kernels are shorter."""
NEAR = 0.75
"""Two references are nearly the same from this share of their operators on."""
DTYPES = frozenset({"fp16", "bf16", "fp32", "int8", "w8a8", "w4a16"})
"""Parts of a name that say in which numbers an operator computes, not which operator it is."""
SAME = {
    "matmul": "mm bmm mv dot linear addmm baddbmm einsum tensordot matmult", "softmax": "logsoftmax", "std": "var varmean stdmean",
    "mul": "mult multiply", "div": "truedivide divide", "sub": "subtract", "and": "bitand bitwiseand", "max": "amax", "min": "amin",
}  # fmt: skip
"""Operators that go under one name; all in lower case without underscores."""
CANONICAL = {other: name for name, others in SAME.items() for other in others.split()}
ARITHMETIC = (ast.Add, ast.Sub, ast.Mult, ast.Div, ast.MatMult, ast.Pow, ast.BitAnd, ast.BitOr, ast.BitXor)
BOOKKEEPING = frozenset({
    "bool", "broadcastto", "broadcasttensors", "clone", "contiguous", "copy", "detach", "dim", "double", "dtype", "empty", "emptylike",
    "expand", "expandas", "float", "full", "get", "half", "init", "int", "isfloatingpoint", "isinstance", "item", "len", "list", "newones",
    "newzeros", "numel", "promotetypes", "range", "reshape", "resize", "resulttype", "shape", "size", "squeeze", "stride", "super",
    "tensor", "to", "tuple", "type", "unsqueeze", "valueerror", "view", "viewas", "zeroslike", "zip",
})  # fmt: skip
"""Calls that compute nothing of an operator."""


@dataclass(frozen=True)
class Example:
    task: str
    """Id of the operator that it implements."""
    source: str


@dataclass(frozen=True)
class Work:
    """What is looked at of a task."""

    operator: str
    """Its name without suite and dtypes."""
    operators: Counter[str]
    """The functions that its reference calls and its arithmetic, under canonical names, without helpers of its own."""
    words: tuple[str, ...]
    """Name, category, semantics and operators."""


class Index:
    """Documents of words, ranked for a query by BM25 (Robertson and Zaragoza 2009), with the idf that is never negative."""

    def __init__(self, documents: Mapping[str, Sequence[str]], k1: float = 1.5, b: float = 0.75):
        self.counts = {name: Counter(words) for name, words in documents.items()}
        self.holders = Counter(word for counts in self.counts.values() for word in counts)
        self.mean = sum(len(words) for words in documents.values()) / max(1, len(documents))
        self.k1, self.b = k1, b

    def ranked(self, query: Iterable[str]) -> list[str]:
        """Names of the documents that share a word with the query, best first, of equals in the order of names."""
        words = sorted(set(query))
        scores = {name: self.score(counts, words) for name, counts in self.counts.items()}
        return sorted((name for name, score in scores.items() if score > 0), key=lambda name: (-scores[name], name))

    def score(self, counts: Counter[str], words: Iterable[str]) -> float:
        length = self.k1 * (1 - self.b + self.b * counts.total() / self.mean)
        return sum(self.idf(word) * counts[word] * (self.k1 + 1) / (counts[word] + length) for word in words if word in counts)

    def idf(self, word: str) -> float:
        holders = self.holders[word]
        return math.log(1 + (len(self.counts) - holders + 0.5) / (holders + 0.5))


def examples(task: "Task", sources: Mapping[str, str], count: int) -> list[Example]:
    """At most `count` kernels from `sources` (by the id of their task), the most useful first, none of which gives `task` away.

    A kernel whose operator is no task of our suites cannot be checked, and is left out.
    """
    asked = work(task)
    known = {name: found for name, source in sources.items() if len(source) <= MAX_SOURCE and (found := known_work(name))}
    index = Index({name: found.words for name, found in sorted(known.items()) if not leak(asked, found)})
    return [Example(name, sources[name]) for name in index.ranked(asked.words)[:count]]


def champions(run: Path) -> dict[str, str]:
    """The best kernels of a run by task id, as its store keeps them."""
    if not (run / "config.yaml").is_file():
        raise UserError(f"scaffold.examples_from={run} is no run directory: it has no config.yaml. Runs lie in runs/<run_id>.")
    return {f"{path.parent.name}/{path.stem}": path.read_text(errors="replace") for path in sorted((run / "best").glob("*/*.py"))}


def leak(task: Work, example: Work) -> str:
    """Why a kernel of `example` must not be shown to an author of `task`, or nothing."""
    asked, shown = task.operators, example.operators
    if task.operator == example.operator:
        return "the same operator"
    if asked and asked.keys() <= shown.keys():
        return "its work contains the whole task"
    if (asked & shown).total() >= NEAR * (asked | shown).total():
        return "nearly the same reference"
    return ""


def work(task: "Task") -> Work:
    operator = "".join(part for part in task.name.lower().split("_") if part not in DTYPES)
    operators = Counter(computed(task.text))
    return Work(operator, operators, (*words(task.name), *words(task.category), *words(task.semantics), *operators.elements()))


@cache
def known_work(task_id: str) -> Work | None:
    """Of a task of our suites."""
    found = ours(task_id.partition("/")[0]).get(task_id)
    return work(found) if found else None


@cache
def ours(suite: str) -> "dict[str, Task]":
    return {task.id: task for task in suites.load(suite).tasks} if suite in suites.names() else {}


def words(text: str) -> list[str]:
    """Lower-case words; `MatrixMultiply` and `matrix_multiply` are the same two."""
    return [word.lower() for word in re.findall(r"[A-Z]?[a-z]+(?:\d+d?)?|[A-Z]+", text)]


def computed(text: str) -> list[str]:
    """Canonical names of what the functions in a reference's text compute, repeated as they are."""
    functions = [node for node in ast.walk(parse(text)) if isinstance(node, ast.FunctionDef)]
    helpers = {function.name for function in functions}
    nodes = [node for function in functions for statement in function.body for node in ast.walk(statement)]
    names = [called(node, helpers).lower().replace("_", "") for node in nodes]
    return [CANONICAL.get(name, name) for name in names if name and name not in BOOKKEEPING]


def called(node: ast.AST, helpers: set[str]) -> str:
    """What a node computes; nothing where it is arithmetic of constants, or a call of a helper, whose own body counts."""
    if isinstance(node, ast.BinOp | ast.AugAssign) and isinstance(node.op, ARITHMETIC):
        return type(node.op).__name__ if any(isinstance(part, ast.Name) for part in ast.walk(node)) else ""
    if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
        return node.func.attr
    return node.func.id if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id not in helpers else ""
