"""The house rules that a reader relies on: imports point one way, and vendors are named in two places only."""

import ast
import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
ROOMS = ("benchmark", "prompts", "tools", "agents", "scaffolds", "experiments")
BELOW = {
    "benchmark": set(),
    "prompts": set(),
    "tools": {"benchmark", "prompts"},
    "agents": {"benchmark", "prompts", "tools"},
    "scaffolds": {"benchmark", "prompts", "tools", "agents"},
    "experiments": {"benchmark", "prompts", "tools", "agents", "scaffolds"},
}
LEAN = {"torch", "triton", "numpy"} | set(sys.stdlib_module_names)
LAZY = {"langgraph", "litellm", "openai", "anthropic", "ray"}
VENDOR = re.compile(r"\b(cuda|nvidia|hip|rocm|amd|gfx\d+\w*|sm_\d+|[hab][12]00|mi\d00x?|hopper|ampere|blackwell)\b", re.IGNORECASE)
NAMES_VENDORS = ("tools/platforms/", "tools/simulated/")


def modules(*rooms: str) -> Iterator[tuple[str, ast.Module]]:
    for room in rooms:
        for path in sorted((ROOT / room).rglob("*.py")):
            yield str(path.relative_to(ROOT)), ast.parse(path.read_text(encoding="utf-8"))


def imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name.partition(".")[0] for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.level == 0 and node.module:
            yield node.module.partition(".")[0]


def docstrings(tree: ast.AST) -> set[int]:
    """Ids of the constants that are documentation: strings that stand alone as statements."""
    return {id(n.value) for n in ast.walk(tree) if isinstance(n, ast.Expr) and isinstance(n.value, ast.Constant)}


@pytest.mark.parametrize("room", ROOMS)
def test_a_room_imports_only_rooms_below_it(room: str) -> None:
    wrong = [(name, i) for name, tree in modules(room) for i in imports(tree) if i in ROOMS and i != room and i not in BELOW[room]]
    assert wrong == []


def test_benchmark_and_tools_need_torch_triton_and_numpy_alone() -> None:
    wrong = [(name, i) for name, tree in modules("benchmark", "tools") for i in imports(tree) if i not in LEAN | {"benchmark", "tools"}]
    assert wrong == []


def test_heavy_packages_are_imported_where_they_are_used() -> None:
    wrong = []
    for name, tree in modules(*ROOMS):
        for node in tree.body:
            if isinstance(node, ast.Import | ast.ImportFrom):
                wrong += [(name, i) for i in imports(ast.Module([node], [])) if i in LAZY]
    assert wrong == []


def test_vendors_and_devices_are_named_by_platforms_and_the_simulated_device_alone() -> None:
    wrong = []
    for name, tree in modules(*ROOMS):
        if name.startswith(NAMES_VENDORS):
            continue
        skip = docstrings(tree)
        for node in ast.walk(tree):
            text = node.value if isinstance(node, ast.Constant) else node.attr if isinstance(node, ast.Attribute) else None
            if isinstance(text, str) and id(node) not in skip and VENDOR.search(text):
                wrong.append((name, node.lineno, text[:60]))
    assert wrong == []


def test_tools_import_without_any_llm_package() -> None:
    heavy = "{'openai','anthropic','litellm','langgraph','langchain_core','hydra','jinja2','rich','structlog','tenacity'}"
    code = f"import sys, tools.evaluate, tools.doctor, benchmark.list, benchmark.lint; print(sorted({heavy} & set(sys.modules)))"
    done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_project_files_hold_no_conflict_markers_or_todos() -> None:
    marks = re.compile(r"^(<<<<<<<|>>>>>>>)|\bTODO\b|\bFIXME\b|NotImplementedError", re.MULTILINE)
    assert [str(p) for room in ROOMS for p in (ROOT / room).rglob("*.py") if marks.search(p.read_text(encoding="utf-8"))] == []
