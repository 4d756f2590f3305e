"""Cross entropy of log_softmax: log_softmax along the classes is idempotent, so that it is computed once where `dim` is 1.

One program per position goes once over the classes, with a running maximum and sum, and gathers what smoothing needs on the way; a last
program reduces the positions.
"""

import torch
import triton
import triton.language as tl


@triton.jit
def log_softmax_rows(x, out, columns, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    offsets = tl.arange(0, BLOCK)
    mask = offsets < columns
    v = tl.load(x + row * columns + offsets, mask=mask, other=-float("inf")).to(tl.float32)
    v = v - tl.max(v, axis=0)
    v = v - tl.log(tl.sum(tl.exp(v), axis=0))
    tl.store(out + row * columns + offsets, v, mask=mask)


@triton.jit
def loss_rows(x, target, weight, loss, share, classes, ignore_index, smoothing, WEIGHTED: tl.constexpr, BLOCK: tl.constexpr):
    row = tl.program_id(0).to(tl.int64)
    t = tl.load(target + row)
    if t == ignore_index:
        tl.store(loss + row, 0.0)
        tl.store(share + row, 0.0)
    else:
        top = tl.full((), -float("inf"), tl.float32)
        total = tl.zeros((), tl.float32)
        weights = tl.zeros((), tl.float32)  # sum of all weights, and of weight times logit
        weighted = tl.zeros((), tl.float32)
        for start in range(0, classes, BLOCK):
            offsets = start + tl.arange(0, BLOCK)
            mask = offsets < classes
            v = tl.load(x + row * classes + offsets, mask=mask, other=-float("inf")).to(tl.float32)
            higher = tl.maximum(top, tl.max(v, axis=0))
            total = total * tl.exp(top - higher) + tl.sum(tl.exp(v - higher), axis=0)
            top = higher
            if smoothing != 0.0:
                w = tl.where(mask, 1.0, 0.0)
                if WEIGHTED:
                    w = tl.load(weight + offsets, mask=mask, other=0.0).to(tl.float32)
                weights += tl.sum(w, axis=0)
                weighted += tl.sum(tl.where(mask, w * v, 0.0), axis=0)
        log_sum = top + tl.log(total)
        w_t = tl.full((), 1.0, tl.float32)
        if WEIGHTED:
            w_t = tl.load(weight + t).to(tl.float32)
        nll = (log_sum - tl.load(x + row * classes + t).to(tl.float32)) * w_t
        smooth = (weights * log_sum - weighted) / classes
        tl.store(loss + row, (1.0 - smoothing) * nll + smoothing * smooth)
        tl.store(share + row, w_t)


@triton.jit
def reduce_positions(loss, share, out, n, MEAN: tl.constexpr, BLOCK: tl.constexpr):
    total = tl.zeros((BLOCK,), tl.float32)
    shares = tl.zeros((BLOCK,), tl.float32)
    for start in range(0, n, BLOCK):
        offsets = start + tl.arange(0, BLOCK)
        total += tl.load(loss + offsets, mask=offsets < n, other=0.0)
        shares += tl.load(share + offsets, mask=offsets < n, other=0.0)
    result = tl.sum(total, axis=0)
    if MEAN:
        result = result / tl.sum(shares, axis=0)
    tl.store(out, result.to(out.dtype.element_ty))


def rows_last(x, dim):
    return x.movedim(dim, -1).contiguous()


def fused_cross_entropy_log_softmax(input, target, dim=1, weight=None, ignore_index=-100, reduction="mean", label_smoothing=0.0):
    logits = input
    if dim % input.dim() != 1:
        lines = rows_last(input, dim)
        normal = torch.empty(lines.shape, dtype=torch.float32, device=input.device)
        columns = lines.shape[-1]
        log_softmax_rows[(lines.numel() // columns,)](lines, normal, columns, BLOCK=triton.next_power_of_2(columns))
        logits = normal.movedim(-1, dim)
    logits, targets = rows_last(logits, 1), target.contiguous()
    n, classes = targets.numel(), logits.shape[-1]
    loss, share = (torch.empty(targets.shape, dtype=torch.float32, device=input.device) for _ in range(2))
    weights = logits if weight is None else weight.contiguous()
    loss_rows[(n,)](
        logits,
        targets,
        weights,
        loss,
        share,
        classes,
        ignore_index,
        float(label_smoothing),
        WEIGHTED=weight is not None,
        BLOCK=min(4096, triton.next_power_of_2(classes)),
    )
    if reduction == "none":
        return loss.to(input.dtype)
    out = torch.empty((), dtype=input.dtype, device=input.device)
    reduce_positions[(1,)](loss, share, out, n, MEAN=reduction == "mean", BLOCK=1024)
    return out
