"""Inside the sandbox: whether the candidate has changed what its calls are watched by.

It shares the interpreter with these instruments, so that nothing is certain; but who forges them must also leave every trace of it
out, and what is compared here is kept by closures, not in any object's attributes. What stays possible in principle: a candidate that
takes the executor's channel over, reads in each request whether kernels are to run, computes by torch with all modes off, and answers
in the executor's own words. Only a second process that launches the compiled kernels without the candidate's Python could tell.
"""

import sys
from collections.abc import Callable, Iterable
from types import FunctionType, ModuleType
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from triton.compiler import CompiledKernel
from triton.runtime.jit import JITFunction

from tools.executor.aten import COPIES, FREE, MOVES
from tools.platforms import DISPATCH_KEYS

OWN = "tools."
KEYS = ("CPU:", *(f"{key}:" for key in DISPATCH_KEYS), "Autograd", "ADInplaceOrView:", "BackendSelect:", "Composite")
"""Where an operator's kernels are looked up in a call; torch itself adds others as it goes."""


def armed(*instruments: Any) -> Callable[[], list[str]]:
    """Names of what is no longer as it is now: attributes of the classes of `instruments`, of torch's tensor and modes, and of
    Triton's kernels; what our own modules consist of, and the code of their functions. New attributes are nobody's harm.
    """
    classes = {torch.Tensor, TorchFunctionMode, TorchDispatchMode, JITFunction, CompiledKernel}
    classes |= {c for thing in instruments for c in type(thing).__mro__ if c.__module__.startswith(OWN)}
    classes |= {c for c in _subclasses((TorchFunctionMode, TorchDispatchMode)) if c.__module__.startswith(OWN)}
    modules = [module for name, module in sys.modules.items() if name.startswith(OWN)]
    former: list[tuple[Any, dict[str, Any]]] = [(c, dict(vars(c))) for c in classes]
    former += [(module, _fixed(module)) for module in modules]
    functions = {value for _, old in former for value in old.values() if isinstance(value, FunctionType)}
    codes = [(function, function.__code__) for function in functions if function.__module__.startswith(OWN)]

    def changed() -> list[str]:
        missing = object()
        names = [f"{c.__name__}.{name}" for c, old in former for name, value in old.items() if vars(c).get(name, missing) is not value]
        return names + [function.__qualname__ for function, code in codes if function.__code__ is not code]

    return changed


def _fixed(module: ModuleType) -> dict[str, Any]:
    """What of a module does not change: what the executor itself consists of, and the functions of others."""
    ours = module.__name__.startswith(__name__.partition(".sandbox")[0])
    return {name: value for name, value in vars(module).items() if ours or callable(value)}


def shadowed(*instruments: Any) -> list[str]:
    """Methods in whose place an instrument has got something else."""
    return [f"{type(thing).__name__}.{name}" for thing in instruments for name in vars(thing) if hasattr(type(thing), name)]


def kernels(operator: str) -> str:
    """Which kernels of torch's dispatcher stand behind an operator. Whatever runs there is shown as this operator."""
    return "\n".join(line for line in torch._C._dispatch_dump(operator).splitlines() if line.startswith(KEYS))


def _overloads(names: Iterable[str]) -> Iterable[str]:
    for packet in (getattr(torch.ops.aten, name, None) for name in names):
        yield from (getattr(packet, overload).name() for overload in packet.overloads()) if packet else ()


KERNELS = {operator: kernels(operator) for operator in _overloads(FREE | COPIES | MOVES)}
"""Of the operators that may be free, as they are before any candidate comes."""


def forget() -> None:
    """Our own modules leave the table of modules, so that they are not found by name."""
    for name in [n for n in sys.modules if n == OWN[:-1] or n.startswith(OWN)]:
        del sys.modules[name]


def _subclasses(roots: Iterable[type]) -> Iterable[type]:
    for root in roots:
        yield root
        yield from _subclasses(root.__subclasses__())
