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
        for task in getattr(module, "TASKS", ()) if name.startswith("benchmark") else ():
            if task.name == "softmax":
                return task.reference(input, dim, dtype)
    for thing in gc.get_objects():
        if type(thing).__name__ == "Task" and getattr(thing, "id", "") == "quick/softmax":
            return thing.reference(input, dim, dtype)
    tools = sys.modules["tools"]
    source = (Path(tools.__file__).parents[1] / "benchmark/suites/kernelbench_x/math/arithmetic.py").read_text()
    space = {}
    exec(source, space)
    return space["softmax"](input, dim, dtype)
