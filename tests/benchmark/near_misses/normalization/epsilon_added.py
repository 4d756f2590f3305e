"""An epsilon is added to a norm that it should bound from below.

Task: kernelbench_x/normalized_cosine_similarity.
Expected: wrong_numeric at correctness.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def norm(x, p, KIND: tl.constexpr):
    size = tl.abs(x)
    if KIND == "largest":
        length = tl.max(size, axis=0)
    elif KIND == "sum":
        length = tl.sum(size, axis=0)
    elif KIND == "root":
        length = tl.sqrt_rn(tl.sum(size * size, axis=0))
    else:
        length = tl.exp2(tl.log2(tl.sum(tl.exp2(tl.log2(size) * p), axis=0)) / p)
    return length


@triton.jit
def cosine(x1, x2, out, columns, p, eps_norm, eps, KIND: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    k = tl.arange(0, BLOCK)
    a = tl.load(x1 + row * columns + k, mask=k < columns, other=0.0).to(tl.float32)
    b = tl.load(x2 + row * columns + k, mask=k < columns, other=0.0).to(tl.float32)
    a = a / tl.maximum(norm(a, p, KIND), eps_norm)
    b = b / tl.maximum(norm(b, p, KIND), eps_norm)
    lengths = (norm(a, 2.0, "root") + eps) * (norm(b, 2.0, "root") + eps)
    tl.store(out + row, (tl.sum(a * b, axis=0) / lengths).to(out.dtype.element_ty))


def normalized_cosine_similarity(x1, x2, dim=1, eps_similarity=1e-8, p_norm=2, eps_norm=1e-12):
    x1, x2 = torch.broadcast_tensors(x1, x2)
    a, b = x1.movedim(dim, -1).contiguous(), x2.movedim(dim, -1).contiguous()
    out = torch.empty(a.shape[:-1], dtype=x1.dtype, device=x1.device)
    kind = {float("inf"): "largest", 1.0: "sum", 2.0: "root"}.get(float(p_norm), "power")
    columns = a.shape[-1]
    cosine[(out.numel(),)](
        a, b, out, columns, float(p_norm) if kind == "power" else 2.0, float(eps_norm), float(eps_similarity),
        KIND=kind, BLOCK=triton.next_power_of_2(columns), num_warps=4 if columns <= 2048 else 8,
    )  # fmt: skip
    return out
