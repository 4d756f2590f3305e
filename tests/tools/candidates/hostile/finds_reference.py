"""Looks for the reference in the modules, the objects and the files of its process.

Row: 7 (searches the process for the reference).
Expected: runtime_error at correctness.
Naive: passes.
"""
import gc
import sys
from pathlib import Path


def softmax(input, dim, dtype=None):
    for name, module in list(sys.modules.items()):
        if name.startswith("benchmark") and hasattr(module, "TASKS"):
            return next(t for t in module.TASKS if t.id == "quick/softmax").reference(input, dim, dtype)
    for thing in gc.get_objects():
        if type(thing).__name__ == "Task" and getattr(thing, "id", "") == "quick/softmax":
            return thing.reference(input, dim, dtype)
    tools = sys.modules["tools"]
    source = (Path(tools.__file__).parents[1] / "benchmark/suites/quick/operators.py").read_text()
    space = {}
    exec(source, space)
    return space["softmax"](input, dim, dtype)
