"""Matrix products that the compiler makes where a kernel asks for none.

Triton takes `sum(x[:, :, None] * y[None, :, :], axis=1)` for a product of matrices. Releases 3.6 and 3.7 compute that in TF32, and twice
its value where the summed axis has 4 elements (seen on an H200); 3.9 computes it in fp32, as the interpreter does.
"""

import re

from triton.runtime.jit import JITFunction

from tools.simulated.functions import calls, functions

_TF32 = re.compile(r"tt\.dot .*inputPrecision = tf32")


def advisory(jit: JITFunction, ttir: str) -> str:
    """What cannot be judged of a kernel that was compiled to `ttir`, a sentence; or nothing."""
    if not _TF32.search(ttir) or any(name.startswith("dot") for fn in functions(jit) for name, _ in calls(fn)):
        return ""
    return (
        f"The compiler makes a TF32 matrix product of a sum of products in {jit.__name__}, which a device computes less exactly than the "
        "simulated one, or wrong where the summed axis is shorter than 8."
    )
