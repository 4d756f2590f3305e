"""The candidates under `candidates/`, with what their first lines say of them.

A hostile file's docstring: a sentence, then `Row: 14 (what the row says).` or `Row: none (why it is here).`,
`Expected: wrong_numeric at adversarial.`, and where they apply `Expected on a GPU: ...` (alone with `Needs: GPU.`),
`Needs: simulated device.`, `Task: quick/gelu.`, `Naive: passes.` Verdicts and stages that depend on timing are joined by "or".
The rows are those of the catalogue of reward hacks in `candidates/ROWS.md`. An honest file says `Task: ...` where its name does not.
"""

import ast
import re
from dataclasses import dataclass
from pathlib import Path

from tools.evaluation import Evaluation

CANDIDATES = Path(__file__).parent / "candidates"
NO_GAIN = "no_gain"
"""In place of a verdict: it may pass where no size is below the roofline floor, for then the trick has won nothing."""


@dataclass(frozen=True)
class Wanted:
    verdicts: tuple[str, ...]
    stages: tuple[str, ...]

    def __str__(self) -> str:
        return f"{' or '.join(self.verdicts)} at {' or '.join(self.stages)}"


@dataclass(frozen=True)
class Candidate:
    name: str
    """As `hostile/zeros`."""
    source: str
    task: str
    expected: Wanted
    on_gpu: Wanted
    rows: tuple[int, ...] = ()
    needs: str = ""
    """`GPU` or `simulated device`, where it shows nothing elsewhere."""
    naive: bool = False
    """Whether the naive harness takes it for right."""
    temptation: str = ""
    """What an honest candidate might wrongly be refused for."""


def hostile() -> list[Candidate]:
    return [_hostile(path) for path in sorted((CANDIDATES / "hostile").glob("*.py"))]


def honest() -> list[Candidate]:
    """All of them pass. The task is named in the docstring, or by the file."""
    return [_honest(path) for path in sorted((CANDIDATES / "honest").glob("*.py"))]


def _hostile(path: Path) -> Candidate:
    source, fields = path.read_text(), _fields(path)
    numbers = fields["Row"].partition("(")[0]
    on_gpu = _wanted(fields.get("Expected on a GPU", fields.get("Expected", "")))
    return Candidate(
        f"hostile/{path.stem}",
        source,
        fields.get("Task", "quick/softmax"),
        _wanted(fields["Expected"]) if "Expected" in fields else on_gpu,
        on_gpu,
        tuple(int(n) for n in re.findall(r"\d+", numbers)),
        fields.get("Needs", ""),
        fields.get("Naive") == "passes",
    )


def _honest(path: Path) -> Candidate:
    wanted, on_gpu = Wanted(("pass",), ("adversarial",)), Wanted(("pass",), ("profile",))
    # As bytes: line ends and a byte order mark are temptations too.
    source, fields = path.read_bytes().decode(), _fields(path)
    task = fields.get("Task", f"quick/{path.stem}")
    return Candidate(f"honest/{path.stem}", source, task, wanted, on_gpu, temptation=fields.get("Temptation", ""))


def _fields(path: Path) -> dict[str, str]:
    # The file that is no Python is read as text.
    text = path.read_text("utf-8-sig")
    found = re.search(r"""^("{3}|'{3})(.*?)\1""", text, re.DOTALL | re.MULTILINE)
    return dict(re.findall(r"^[ \t]*([A-Z][\w ]+): (.+?)\.?$", found[2], re.MULTILINE)) if found else {}


def _wanted(text: str) -> Wanted:
    verdicts, _, stages = text.partition(" at ")
    return Wanted(tuple(verdicts.split(" or ")), tuple(stages.split(" or ")))


def as_wanted(wanted: Wanted, found: Evaluation) -> bool:
    if NO_GAIN in wanted.verdicts and found.verdict == "pass":
        return found.timing is not None and all(s.floor_us is not None and s.candidate_us >= s.floor_us for s in found.timing.sizes)
    verdicts = (*wanted.verdicts, "below_floor", "suspected_hack") if NO_GAIN in wanted.verdicts else wanted.verdicts
    return found.verdict in verdicts and (found.stage in wanted.stages or found.verdict == "pass")


class _Shape(ast.NodeTransformer):
    """Source with its own names and its constants taken out; attributes stay, for they say which function is called."""

    def __init__(self) -> None:
        self.names: dict[str, str] = {}

    def visit_Constant(self, node: ast.Constant) -> ast.AST:
        return ast.Constant(type(node.value).__name__)

    def visit_Name(self, node: ast.Name) -> ast.AST:
        return ast.Name(self._number(node.id), node.ctx)

    def visit_arg(self, node: ast.arg) -> ast.AST:
        return ast.arg(self._number(node.arg), self.visit(node.annotation) if node.annotation else None)

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.AST:
        node.name = self._number(node.name)
        return self.generic_visit(node)

    def _number(self, name: str) -> str:
        return self.names.setdefault(name, f"name{len(self.names)}")


def shape(source: str) -> str:
    """What is left of a source when names and constants do not count."""
    tree = ast.parse(source.lstrip("\ufeff"))
    tree.body = [node for node in tree.body if not isinstance(node, ast.Expr)]
    return ast.dump(_Shape().visit(tree))
