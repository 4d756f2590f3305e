"""The user's own function: `./my_ops.py:function`, with `inputs()` beside it or example tensors in a file.

`inputs()` returns the arguments of one call by name, or a list of such dicts; it is called with the generators of torch, numpy and
Python seeded. Further sizes come from `timing()`, which returns dicts likewise, or from `sizes`, a list of argument lists for
`inputs(...)`: in the file, or as `task_args.sizes`. In place of `inputs()`, `task_args.inputs` may name a safetensors file: a tensor
by the name of its argument, or `0.x`, `1.x` for several examples, with other arguments as JSON in the file's metadata.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from benchmark.errors import UserError, unknown
from benchmark.importers import options
from benchmark.importers.files import MOST_BYTES, beside, functions, parsed, shown, text_of
from benchmark.origin import Origin, digest

OPTIONS = ("inputs", "sizes", "tolerance")
EXAMPLES = "examples.safetensors"
"""The name under which example tensors are handed on."""
HELPERS = frozenset({"inputs", "timing"})


def read(named: str, function: str, args: Mapping[str, Any]) -> Origin:
    """Raises `UserError` for what the text shows to be wrong."""
    options.known(args, OPTIONS)
    path = Path(named)
    text = text_of(path, f"name your own operator as ./file.py:function, relative to {Path.cwd()}.", named)
    tree = parsed(text, named)
    defined = functions(tree)
    if not defined.keys() - HELPERS:
        raise UserError(f"{named} defines no function: write the operator there as def {function or 'name'}(...), and inputs() beside it.")
    if function not in defined:
        raise unknown(f"function in {named}", function, set(defined) - HELPERS)
    examples = _examples(args.get("inputs"))
    if examples is None and "inputs" not in defined:
        raise UserError(
            f"{named} has no inputs() function: add one that returns the arguments of {function} by name, or a list of such dicts, or give "
            "example tensors as task_args.inputs=FILE.safetensors."
        )
    folder = path.resolve().parent
    files = beside(path, [folder], folder) | ({} if examples is None else {EXAMPLES: examples})
    chosen = {"tolerance": options.tolerance(args), "sizes": _sizes(args.get("sizes")), "examples": examples is not None}
    key = digest("own", function, path.name, chosen, files, (".",))
    return Origin("own", path.name, named, function, shown(text, tree, [function]), chosen, key, (".",), files)


def _examples(named: Any) -> bytes | None:
    """The bytes of a safetensors file."""
    if named is None:
        return None
    path = Path(str(named))
    if not path.is_file():
        raise UserError(f"There is no file {str(named)!r}: task_args.inputs names a safetensors file, relative to {Path.cwd()}.")
    if path.stat().st_size > MOST_BYTES:
        raise UserError(
            f"{path} has more than {MOST_BYTES >> 20} MiB: save smaller examples, and give larger sizes by timing() in the file."
        )
    data = path.read_bytes()
    size = int.from_bytes(data[:8], "little")
    try:
        header = json.loads(data[8 : 8 + size])
    except ValueError:
        header = None
    if not isinstance(header, dict):
        raise UserError(f"{path} is no safetensors file: write it with safetensors.torch.save_file({{'x': x, ...}}, {path.name!r}).")
    return data


def _sizes(value: Any) -> list[list[Any]] | None:
    if value is None:
        return None
    rows = [row if isinstance(row, list | tuple) else [row] for row in value] if isinstance(value, list | tuple) else []
    if not rows or not all(isinstance(item, bool | int | float | str) for row in rows for item in row):
        raise UserError(
            f"task_args.sizes={value!r} is no list of sizes: give a list of arguments of inputs() for each, as in [[64,1000],[4096,4096]]."
        )
    return [list(row) for row in rows]
