"""Inside the sandbox: whether the candidate has changed what its calls are watched by.

It shares the interpreter with these instruments, so that nothing is certain; but who forges them must also leave every trace of it
out, and what is compared here is kept by closures, not in any object's attributes.
"""

import sys
from collections.abc import Callable, Iterable
from typing import Any

import torch
from torch.overrides import TorchFunctionMode
from torch.utils._python_dispatch import TorchDispatchMode
from triton.compiler import CompiledKernel
from triton.runtime.jit import JITFunction

OWN = "tools."


def armed(*instruments: Any) -> Callable[[], list[str]]:
    """Names of what is no longer as it is now: attributes of the classes of `instruments`, of torch's tensor and modes, and of
    Triton's kernels. New attributes are nobody's harm.
    """
    classes = {torch.Tensor, TorchFunctionMode, TorchDispatchMode, JITFunction, CompiledKernel}
    classes |= {c for thing in instruments for c in type(thing).__mro__ if c.__module__.startswith(OWN)}
    classes |= {c for c in _subclasses((TorchFunctionMode, TorchDispatchMode)) if c.__module__.startswith(OWN)}
    former = [(c, dict(vars(c))) for c in classes]

    def changed() -> list[str]:
        missing = object()
        return [f"{c.__name__}.{name}" for c, old in former for name, value in old.items() if vars(c).get(name, missing) is not value]

    return changed


def forget() -> None:
    """Our own modules leave the table of modules, so that they are not found by name."""
    for name in [n for n in sys.modules if n == OWN[:-1] or n.startswith(OWN)]:
        del sys.modules[name]


def _subclasses(roots: Iterable[type]) -> Iterable[type]:
    for root in roots:
        yield root
        yield from _subclasses(root.__subclasses__())
