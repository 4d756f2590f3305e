"""KernelBench-X and TritonBench: a file with a function, a line of 146 `#`, and tests that call the function by its name.

The tests' calls become the cases: their arguments are recorded when the tests run, in a reference sandbox.
"""

import ast
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from benchmark.errors import UserError, unknown
from benchmark.importers import options
from benchmark.importers.files import Listed, beside, functions, parsed, shown, text_of
from benchmark.origin import Origin, digest

SEPARATOR = "#" * 146
OPTIONS = ("entry", "tolerance")


@dataclass(frozen=True)
class Layout:
    """Where a benchmark has its files, in its checkout."""

    folder: str
    described: str = ""
    """A file with instructions, where the tasks' own docstrings say too little."""


LAYOUTS = {
    "kernelbenchx": Layout("data/kernelbenchx"),
    "tritonbench_t": Layout("data/TritonBench_T_v1"),
    "tritonbench_g": Layout("data/TritonBench_G_v1", "data/TritonBench_G_v1.json"),
}


def read(kind: str, named: str, args: Mapping[str, Any]) -> Origin:
    options.known(args, OPTIONS)
    path = located(kind, named)
    text = text_of(
        path,
        f"name a task as {kind}:CHECKOUT/{'Math/log1p' if kind == 'kernelbenchx' else 'add'}, or give the path of its file after {kind}:.",
        others=_data(kind, path),
    )
    implementation, tests = split(text, path)
    tree = parsed(implementation, str(path))
    entry = _entry(tree, parsed(tests, str(path)), path, args.get("entry"))
    root, search = _search(path)
    files = beside(path, search, root)
    chosen = {"tolerance": options.tolerance(args), "instruction": _instruction(kind, path), "category": path.resolve().parent.name}
    inside, folders = str(path.resolve().relative_to(root)), tuple(str(folder.relative_to(root)) for folder in search)
    key = digest(kind, entry, inside, chosen, files, folders)
    return Origin(kind, inside, str(path), entry, _shown(implementation, tree, entry), chosen, key, folders, files)


def split(text: str, path: Path) -> tuple[str, str]:
    """The implementation and the tests."""
    parts = text.split(SEPARATOR)
    if len(parts) < 2:
        raise UserError(f"{path} has no line of 146 '#', which parts the function from its tests: it is no task file of this format.")
    return parts[0], parts[-1]


def _entry(tree: ast.Module, tests: ast.Module, path: Path, wanted: Any) -> str:
    """The function that is the task: as asked for, named like the file, or the one that the tests call most."""
    defined = {name for name, node in functions(tree).items() if not any(_is_kernel(d) for d in node.decorator_list)}
    defined |= {name for node in tree.body if isinstance(node, ast.Assign) for target in node.targets for name in _names(target)}
    if wanted is not None:
        if wanted not in defined:
            raise unknown(f"function in {path}", str(wanted), defined)
        return str(wanted)
    called = [node.func.id for node in ast.walk(tests) if isinstance(node, ast.Call) and isinstance(node.func, ast.Name)]
    known = [name for name in called if name in defined]
    if not known:
        raise UserError(
            f"The tests of {path} call none of its functions; give one of {', '.join(sorted(defined)) or 'none'} as task_args.entry."
        )
    return path.stem if path.stem in known else max(dict.fromkeys(known), key=known.count)


def _names(target: ast.expr) -> list[str]:
    return [target.id] if isinstance(target, ast.Name) else []


def _is_kernel(decorator: ast.expr) -> bool:
    """Whether it makes a kernel of a function, as `triton.jit` and `triton.autotune` do."""
    return ast.unparse(decorator).partition("(")[0].rpartition(".")[2] in ("jit", "autotune", "heuristics")


def _shown(text: str, tree: ast.Module, entry: str) -> str:
    """The source for prompts. Where the reference is made of kernels, these are what is to be written, and are left out."""
    kernels = {name for name, node in functions(tree).items() if any(_is_kernel(d) for d in node.decorator_list)}
    if not kernels:
        return text.strip()
    tree.body = [node for node in tree.body if getattr(node, "name", None) not in kernels]
    return shown(text, tree, [entry])


def _instruction(kind: str, path: Path) -> str:
    """What the checkout says of the task, where its format has that."""
    file = _checkout(path) / LAYOUTS[kind].described
    if not LAYOUTS[kind].described or not file.is_file():
        return ""
    rows = json.loads(file.read_text(encoding="utf-8"))
    return next((" ".join(str(row.get("simp_instru", "")).split()) for row in rows if row.get("file") == path.name), "")


def located(kind: str, named: str) -> Path:
    """The file of a task: as named, with its ending, or in the data folder of a checkout."""
    path = Path(named)
    files = _data(kind, path)
    inside = [file for file in files if file.parts[-2:] == (path.parent.name, f"{path.name}.py")]
    places = [path, Path(f"{path}.py"), *inside, *(file for file in files if file.stem == path.name)]
    return next((place for place in places if place.is_file()), places[1] if path.suffix != ".py" else path)


def _data(kind: str, path: Path) -> list[Path]:
    """The files in the data folder of the checkout that a path leads into."""
    folders = [folder for above in path.parents if (folder := above / LAYOUTS[kind].folder).is_dir()]
    return sorted(folders[0].rglob("*.py")) if folders else []


def _checkout(path: Path) -> Path:
    """The folder above `data`, or the file's own."""
    return next((parent.parent for parent in path.resolve().parents if parent.name == "data"), path.resolve().parent)


def _search(path: Path) -> tuple[Path, list[Path]]:
    """The folder that the files are named from, and those that the tests import from."""
    root = _checkout(path)
    return root, [folder for folder in (path.resolve().parent, root / "utils") if folder.is_dir()]


def listed(kind: str, checkout: Path) -> list[Listed]:
    folder = checkout / LAYOUTS[kind].folder
    files = sorted(folder.rglob("*.py")) if folder.is_dir() else []
    return [_listed(kind, checkout, path.relative_to(folder)) for path in files if path.name != "__init__.py"]


def _listed(kind: str, checkout: Path, inside: Path) -> Listed:
    return Listed(f"{kind}:{checkout}/{inside.with_suffix('')}", inside.parent.name or kind)
