"""KernelBench: a file with a class `Model`, with `get_inputs()` for its `forward` and `get_init_inputs()` for its constructor.

The sizes are numbers at the top of the file. Its own are made for a large GPU, so correctness is tried on small ones: by default
every size is divided by the same power of two where that works; `task_args.sizes` names others, `task_args.scale=off` takes the file's.
"""

import ast
import re
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmark.errors import UserError
from benchmark.importers import options
from benchmark.importers.files import Listed, beside, functions, parsed, text_of
from benchmark.origin import Origin, digest

OPTIONS = ("scale", "sizes", "tolerance")
LEVELS = ("level1", "level2", "level3", "level4")
SCALES = ("auto", "off")


def read(named: str, args: Mapping[str, Any]) -> Origin:
    options.known(args, OPTIONS)
    path = located(named)
    text = text_of(
        path,
        "name a problem as kernelbench:CHECKOUT/level1/19_ReLU, or give the path of its file after kernelbench:.",
        others=_beside(path),
    )
    tree = parsed(text, str(path))
    if not any(isinstance(node, ast.ClassDef) and node.name == "Model" for node in tree.body):
        raise UserError(f"{path} has no class Model, so it is no problem of KernelBench.")
    missing = [name for name in ("get_inputs", "get_init_inputs") if name not in functions(tree)]
    if missing:
        raise UserError(f"{path} has no {missing[0]}() function: a problem of KernelBench draws its inputs there.")
    files = beside(path, [path.resolve().parent], path.resolve().parent)
    chosen = {
        "tolerance": options.tolerance(args), "scale": options.choice(args, "scale", SCALES),
        "sizes": _sizes(args.get("sizes"), tree, path), "category": path.resolve().parent.name,
    }  # fmt: skip
    key = digest("kernelbench", "Model", path.name, chosen, files, ())
    return Origin("kernelbench", path.name, str(path), function_name(path.stem), text.strip(), chosen, key, (), files)


def located(named: str) -> Path:
    """The file of a problem: as named, with its ending, or in the folder of the problems of a checkout."""
    path = Path(named)
    places = [path, Path(f"{path}.py"), path.parent.parent / "KernelBench" / path.parent.name / f"{path.name}.py"]
    return next((place for place in places if place.is_file()), places[1] if path.suffix != ".py" else path)


def _beside(path: Path) -> list[Path]:
    """The problems among which one that is not there may have been meant."""
    return [*path.parent.glob("*.py"), *(path.parent.parent / "KernelBench" / path.parent.name).glob("*.py")]


def function_name(stem: str) -> str:
    """`19_ReLU` as a function is called: `relu`."""
    words = re.sub(r"^\d+_", "", stem)
    name = re.sub(r"\W+|_+", "_", words).strip("_").lower()
    return name if name.isidentifier() else f"f_{name}"


def listed(checkout: Path) -> list[Listed]:
    root = checkout / "KernelBench" if (checkout / "KernelBench").is_dir() else checkout
    files = [path for level in LEVELS for path in sorted((root / level).glob("*.py"), key=_number)]
    return [Listed(f"kernelbench:{checkout}/{path.parent.name}/{path.stem}", path.parent.name) for path in files]


def _number(path: Path) -> tuple[int, str]:
    found = re.match(r"\d+", path.stem)
    return int(found[0]) if found else 0, path.stem


def _sizes(value: Any, tree: ast.Module, path: Path) -> list[dict[str, Any]] | None:
    """Values for numbers at the top of the file, one dict or several."""
    if value is None:
        return None
    rows = value if isinstance(value, list) else [value]
    names = {target.id for node in tree.body if isinstance(node, ast.Assign) for target in node.targets if isinstance(target, ast.Name)}
    for row in rows:
        if not isinstance(row, Mapping) or not row:
            raise UserError(
                f"task_args.sizes={value!r} is no set of sizes: give values for names at the top of {path}, as in {{batch_size:4,dim:64}}."
            )
        for name in row:
            if name not in names:
                raise UserError(
                    f"task_args.sizes.{name} is no name at the top of {path}: choose among {', '.join(sorted(names)) or 'none'}."
                )
    return [dict(row) for row in rows]
