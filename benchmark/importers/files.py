"""Text of files that are not ours: parsed, never run. What a file imports from beside it, and the parts of it that a prompt shows."""

import ast
import sys
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from pathlib import Path

from benchmark.errors import UserError

MOST_BYTES = 64 << 20
"""Of all files of one task together; a reference sandbox holds them in memory."""
SUPPLIED = frozenset(sys.stdlib_module_names) | {"torch", "triton", "numpy"}
Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Listed:
    """A task of a checkout."""

    id: str
    category: str


def text_of(path: Path, remedy: str, named: str = "", others: Iterable[Path] = ()) -> str:
    """A file's text. Where there is none under the path, or as it was `named`, the nearest of `others` is suggested, and `remedy`
    follows.
    """
    if not path.is_file():
        near = get_close_matches(path.stem, sorted({other.stem for other in others}), n=1)
        hint = f"did you mean {near[0]!r}? Else " if near else ""
        raise UserError(f"There is no file {(named or str(path))!r}: {hint}{remedy}")
    try:
        return path.read_text(encoding="utf-8")
    except UnicodeDecodeError as error:
        raise UserError(f"{path} is not UTF-8 text: {error.reason} at byte {error.start}; save it as UTF-8.") from None


def parsed(text: str, named: str) -> ast.Module:
    try:
        return ast.parse(text)
    except (SyntaxError, ValueError, RecursionError) as error:
        where = f" at line {error.lineno}" if isinstance(error, SyntaxError) else ""
        message = getattr(error, "msg", None) or str(error)
        raise UserError(
            f"{named} cannot be imported: {type(error).__name__}: {message}{where}; correct the file and start again."
        ) from None


def functions(tree: ast.Module) -> dict[str, Function]:
    """The functions that a module defines itself."""
    return {node.name: node for node in tree.body if isinstance(node, Function)}


def beside(path: Path, search: Sequence[Path], root: Path) -> dict[str, bytes]:
    """The file and, by name below `root`, what it imports from the `search` folders, and so on."""
    found: dict[Path, bytes] = {}
    waiting = [path.resolve()]
    while waiting:
        file = waiting.pop()
        if file in found:
            continue
        found[file] = file.read_bytes()
        if sum(map(len, found.values())) > MOST_BYTES:
            raise UserError(f"{path} imports more than {MOST_BYTES >> 20} MiB from beside it; move what it needs into a folder of its own.")
        if file.suffix == ".py":
            waiting += [new for name in _imported(found[file]) for new in _module(name, search)]
    return {str(file.relative_to(root.resolve())): data for file, data in found.items() if file.is_relative_to(root.resolve())}


def _imported(data: bytes) -> set[str]:
    """The top-level names of what a module imports."""
    try:
        nodes = list(ast.walk(ast.parse(data)))
    except (SyntaxError, ValueError, RecursionError):
        return set()
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module and not node.level}
    return {name.partition(".")[0] for name in names} - SUPPLIED


def _module(name: str, search: Sequence[Path]) -> Iterator[Path]:
    for folder in search:
        if (file := folder / f"{name}.py").is_file():
            yield file.resolve()
            return
        if (folder / name).is_dir():
            yield from (file.resolve() for file in sorted((folder / name).rglob("*.py")))
            return


def shown(text: str, tree: ast.Module, names: Sequence[str]) -> str:
    """The definitions of `names` and of whatever of the module these use, in the order of the file."""
    defined = {name: node for node in tree.body for name in _defines(node)}
    wanted: set[str] = set()
    waiting = [name for name in names if name in defined]
    while waiting:
        name = waiting.pop()
        if name not in wanted:
            wanted.add(name)
            waiting += [n.id for n in ast.walk(defined[name]) if isinstance(n, ast.Name) and n.id in defined]
    chosen = [node for node in tree.body if set(_defines(node)) & wanted]
    return "\n\n\n".join(_source(text, node) for node in chosen)


def _defines(node: ast.stmt) -> list[str]:
    if isinstance(node, Function | ast.ClassDef):
        return [node.name]
    if isinstance(node, ast.Assign | ast.AnnAssign):
        targets = node.targets if isinstance(node, ast.Assign) else [node.target]
        return [target.id for target in targets if isinstance(target, ast.Name)]
    return []


def _source(text: str, node: ast.stmt) -> str:
    decorators = getattr(node, "decorator_list", [])
    first = min([node.lineno, *(decorator.lineno for decorator in decorators)])
    return "\n".join(text.splitlines()[first - 1 : node.end_lineno])
