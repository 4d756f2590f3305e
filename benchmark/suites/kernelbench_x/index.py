"""Index of KernelBench-X."""

import torch
from torch import Tensor

from benchmark.checkers import exact
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.task import Contract, Task, hidden, on_device, shown, timed

FP16, BF16, FP64 = torch.float16, torch.bfloat16, torch.float64
NAN = float("nan")


def index_select(input: Tensor, dim: int, index: Tensor) -> Tensor:
    """The slices of `input` along `dim` at the positions `index` (a vector, int64 or int32; any order, repeats allowed), as a new
    tensor whose axis `dim` is as long as `index`."""
    return torch.index_select(input, dim, index)


def select_in_order(input: Tensor, dim: int, index: Tensor) -> Tensor:
    return torch.index_select(input, dim, index.sort().values)


def index_fill_(dim: int, x: Tensor, index: Tensor, value: float) -> Tensor:
    """Writes `value`, converted to the dtype of x, to all slices of x along `dim` at the positions `index` (a vector, int64; repeats
    allowed), in place, and returns x."""
    return x.index_fill_(dim, index, value)


def fill_a_copy(dim: int, x: Tensor, index: Tensor, value: float) -> Tensor:
    return x.index_fill(dim, index, value)


def fill_up_to(dim: int, x: Tensor, index: Tensor, value: float) -> Tensor:
    """Fills the first slices, as many as there are indices."""
    x.narrow(dim, 0, index.numel()).fill_(value)
    return x


def scatter(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """A copy of `input` in which, for each position p of `index`, the element at p with p[dim] replaced by index[p] is src[p].

    `index` (int64) has the number of axes of `input`, and is nowhere longer than `src`, nor than `input` along other axes than
    `dim`; what lies beyond its shape is not touched. No element is written twice."""
    return torch.scatter(input, dim, index, src)


def scatter_add(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    return torch.scatter_add(input, dim, index, src)


def gather_in_place_of_scatter(input: Tensor, dim: int, index: Tensor, src: Tensor) -> Tensor:
    """Moves by the index the other way."""
    result = input.clone()
    part = tuple(slice(0, size) for size in index.shape)
    result[part] = src.gather(dim, index.clamp_max(src.shape[dim] - 1))
    return result


def permute_copy(input: Tensor, dims: list[int]) -> Tensor:
    """The axes of `input` in the order `dims` (each once, negative ones count from the end), as a new tensor in memory of its own."""
    return torch.permute_copy(input, dims)


def inverse_permutation(input: Tensor, dims: list[int]) -> Tensor:
    """The right shape, filled as by the inverse order."""
    inverse = [0] * len(dims)
    for place, axis in enumerate(dims):
        inverse[axis % len(dims)] = place
    return input.permute(inverse).reshape([input.shape[axis] for axis in dims])


def masked_select(input: Tensor, mask: Tensor) -> Tensor:
    """The elements of `input` where `mask` (bool) is true, as a vector in row-major order; both broadcast against each other. The
    length of the result depends on the values of `mask`."""
    return torch.masked_select(input, mask)


def first_elements(input: Tensor, mask: Tensor) -> Tensor:
    """As many as are asked for, but not those."""
    input, mask = torch.broadcast_tensors(input, mask)
    return input.reshape(-1)[: int(mask.sum())].clone()


def column_major(input: Tensor, mask: Tensor) -> Tensor:
    input, mask = torch.broadcast_tensors(input, mask)
    return torch.masked_select(input.permute(*reversed(range(input.dim()))), mask.permute(*reversed(range(mask.dim()))))


def expand_where(input: Tensor, target_sizes: list[int], cond: Tensor, other: Tensor) -> Tensor:
    """`input`, expanded to `target_sizes` (-1 keeps an axis as it is), where `cond` (bool) is true, `other` elsewhere. All three
    broadcast against each other, and the result has the dtype to which `input` and `other` promote."""
    return torch.where(cond, input.expand(*target_sizes), other)


def unique(d: Draw, dim: int, count: int, *shape: int) -> Tensor:
    """Indices of shape `shape` but for `count` along `dim`, below `shape[dim]`, no two equal along that axis."""
    return d.uniform(*shape).argsort(dim).narrow(dim, 0, count).contiguous()


def truths(d: Draw, *shape: int, share: float = 0.5) -> Tensor:
    return d.uniform(*shape) < share


def half_true(d: Draw, n: int) -> Tensor:
    """As many true as false, so that the result is as long for every seed."""
    return d.uniform(n).argsort() < n // 2


TASKS = (
    Task(
        "kernelbench_x/index_select",
        "Index",
        "torch",
        index_select,
        shown({
            "rows": lambda d: {"input": d.normal(67, 31), "dim": 0, "index": d.integers(0, 67, 29)},
            "columns-fp16": lambda d: {"input": d.normal(37, 41, dtype=FP16), "dim": 1, "index": d.integers(0, 41, 53)},
            "last-bf16": lambda d: {"input": d.normal(5, 7, 31, dtype=BF16), "dim": -1, "index": d.integers(0, 31, 13)},
            "middle": lambda d: {"input": d.normal(5, 23, 11), "dim": 1, "index": d.integers(0, 23, 17)},
            "vector": lambda d: {"input": d.normal(1009), "dim": 0, "index": d.integers(0, 1009, 501)},
            "int64": lambda d: {"input": d.integers(-(2**40), 2**40, 29, 17), "dim": 0, "index": d.integers(0, 29, 41, dtype=torch.int32)},
            "transposed": lambda d: {"input": transposed(d.normal(43, 29)), "dim": 0, "index": d.integers(0, 43, 19)},
            "nan-and-zeros": lambda d: {
                "input": d.normal(19, 23).masked_fill(truths(d, 19, 23, share=0.2), NAN) * truths(d, 19, 23), "dim": 1,
                "index": d.integers(0, 23, 31),
            },
            "none": lambda d: {"input": d.normal(5, 7), "dim": 0, "index": d.integers(0, 5, 0)},
        }) + on_device({
            "beyond-int32": lambda d: {
                "input": d.integers(-128, 128, 32771, 65537, dtype=torch.int8), "dim": 0,
                "index": d.integers(32760, 32771, 97, dtype=torch.int32),
            },
        }) + hidden({
            "one-of-one": lambda d: {"input": d.normal(1, 97), "dim": 0, "index": d.integers(0, 1, 5)},
            "strided": lambda d: {"input": strided(d.normal(13, 61)), "dim": -2, "index": strided(d.integers(0, 13, 37))},
            "four-axes": lambda d: {
                "input": offset(d.normal(3, 5, 17, 7, dtype=FP64)), "dim": 2, "index": offset(d.integers(0, 17, 23), 1)
            },
        }),
        timed(
            lambda d, rows, columns, count: {"input": d.normal(rows, columns), "dim": 0, "index": d.integers(0, rows, count)},
            ((4096, 256, 512), (65536, 256, 16384), (131072, 256, 65536), (262144, 512, 131072)),
        ),
        Contract(exact()),
        wrong={"in ascending order": select_in_order},
    ),
    Task(
        "kernelbench_x/index_fill_",
        "Index",
        "torch",
        index_fill_,
        shown({
            "rows": lambda d: {"dim": 0, "x": d.normal(67, 31), "index": d.integers(0, 67, 16), "value": 3.14},
            "columns-fp16": lambda d: {"dim": 1, "x": d.normal(37, 41, dtype=FP16), "index": d.integers(0, 41, 13), "value": -0.1},
            "last-bf16": lambda d: {"dim": -1, "x": d.normal(5, 7, 31, dtype=BF16), "index": d.integers(0, 31, 5), "value": 1.01},
            "middle": lambda d: {"dim": 1, "x": d.normal(5, 23, 11), "index": d.integers(0, 23, 7), "value": 0.0},
            "vector": lambda d: {"dim": 0, "x": d.normal(1009), "index": d.integers(0, 1009, 307), "value": 1.5},
            "int64": lambda d: {"dim": 0, "x": d.integers(-(2**40), 2**40, 29, 17), "index": d.integers(0, 29, 7), "value": 5},
            "transposed": lambda d: {"dim": 0, "x": transposed(d.normal(43, 29)), "index": d.integers(0, 43, 11), "value": -2},
            "infinite": lambda d: {"dim": 1, "x": d.normal(19, 23), "index": d.integers(0, 23, 3), "value": float("inf")},
            "none": lambda d: {"dim": 0, "x": d.normal(5, 7), "index": d.integers(0, 5, 0), "value": 7.0},
        }) + hidden({
            "nan": lambda d: {"dim": 0, "x": d.normal(31, 13), "index": d.integers(0, 31, 9), "value": NAN},
            "strided": lambda d: {"dim": -2, "x": strided(d.normal(17, 61)), "index": strided(d.integers(0, 17, 5)), "value": 0.5},
            "four-axes": lambda d: {"dim": 2, "x": offset(d.normal(3, 5, 17, 7)), "index": offset(d.integers(0, 17, 6), 1), "value": -1e30},
        }),
        timed(
            lambda d, rows, columns, count: {"dim": 0, "x": d.normal(rows, columns), "index": d.integers(0, rows, count), "value": 1.0},
            ((256, 64, 128), (4096, 256, 2048), (65536, 256, 16384), (131072, 512, 65536)),
        ),
        Contract(exact(), mutates=("x",)),
        wrong={"a copy": fill_a_copy, "the first slices": fill_up_to},
    ),
    Task(
        "kernelbench_x/scatter",
        "Index",
        "torch",
        scatter,
        shown({
            "rows": lambda d: {"input": d.normal(67, 31), "dim": 0, "index": unique(d, 0, 29, 67, 31), "src": d.normal(29, 31)},
            "columns-fp16": lambda d: {
                "input": d.normal(37, 41, dtype=FP16), "dim": 1, "index": unique(d, 1, 17, 37, 41), "src": d.normal(37, 17, dtype=FP16)
            },
            "last-bf16": lambda d: {
                "input": d.normal(5, 7, 31, dtype=BF16), "dim": -1, "index": unique(d, 2, 31, 5, 7, 31),
                "src": d.normal(5, 7, 31, dtype=BF16),
            },
            "middle": lambda d: {"input": d.normal(5, 23, 11), "dim": 1, "index": unique(d, 1, 9, 5, 23, 11), "src": d.normal(5, 9, 11)},
            "vector": lambda d: {"input": d.normal(1009), "dim": 0, "index": unique(d, 0, 501, 1009), "src": d.normal(501)},
            "smaller-index": lambda d: {
                "input": d.normal(43, 29), "dim": 0, "index": unique(d, 0, 19, 43, 13), "src": d.normal(23, 31)
            },
            "int64": lambda d: {
                "input": d.integers(-(2**40), 2**40, 29, 17), "dim": 0, "index": unique(d, 0, 29, 29, 17), "src": d.integers(-9, 9, 29, 17)
            },
            "transposed": lambda d: {
                "input": transposed(d.normal(29, 43)), "dim": 1, "index": transposed(unique(d, 1, 19, 29, 43)),
                "src": transposed(d.normal(29, 19)),
            },
            "none": lambda d: {"input": d.normal(5, 7), "dim": 0, "index": d.integers(0, 5, 0, 7), "src": d.normal(3, 7)},
        }) + hidden({
            "nan": lambda d: {
                "input": d.normal(31, 13), "dim": 0, "index": unique(d, 0, 11, 31, 13),
                "src": d.normal(11, 13).masked_fill(truths(d, 11, 13, share=0.3), NAN),
            },
            "strided": lambda d: {
                "input": strided(d.normal(17, 61)), "dim": -2, "index": strided(unique(d, 0, 7, 17, 61)), "src": strided(d.normal(7, 61), 3)
            },
            "smaller-in-four-axes": lambda d: {
                "input": offset(d.normal(3, 5, 17, 7)), "dim": 2, "index": unique(d, 2, 6, 2, 5, 17, 3),
                "src": offset(d.normal(3, 5, 6, 7), 1),
            },
        }),
        timed(
            lambda d, rows, columns, count: {
                "input": d.normal(rows, columns), "dim": 0, "index": unique(d, 0, count, rows, columns), "src": d.normal(count, columns)
            },
            ((256, 128, 128), (4096, 128, 2048), (32768, 128, 16384), (131072, 256, 65536)),
        ),
        Contract(exact()),
        wrong={"added": scatter_add, "the other way": gather_in_place_of_scatter},
    ),
    Task(
        "kernelbench_x/permute_copy",
        "Index",
        "torch",
        permute_copy,
        shown({
            "matrix": lambda d: {"input": d.normal(67, 31), "dims": [1, 0]},
            "cube-fp16": lambda d: {"input": d.normal(7, 13, 17, dtype=FP16), "dims": [2, 0, 1]},
            "four-axes-bf16": lambda d: {"input": d.normal(3, 5, 7, 11, dtype=BF16), "dims": [0, 2, 3, 1]},
            "reversed": lambda d: {"input": d.normal(4, 6, 8, 5), "dims": [3, 2, 1, 0]},
            "negative": lambda d: {"input": d.normal(11, 3, 19), "dims": [-1, 0, -2]},
            "same-order": lambda d: {"input": d.normal(37, 29), "dims": [0, 1]},
            "int64": lambda d: {"input": d.integers(-(2**40), 2**40, 5, 23, 3), "dims": [1, 2, 0]},
            "transposed": lambda d: {"input": transposed(d.normal(3, 29, 13)), "dims": [1, 0, 2]},
            "one-axis": lambda d: {"input": d.normal(1009), "dims": [0]},
        }) + hidden({
            "five-axes": lambda d: {"input": d.normal(2, 3, 5, 4, 7), "dims": [3, 1, 4, 0, 2]},
            "strided": lambda d: {"input": strided(d.normal(5, 7, 31)), "dims": [2, 1, 0]},
            "offset-fp64": lambda d: {"input": offset(d.normal(13, 1, 53, dtype=FP64)), "dims": [1, 2, 0]},
            "empty": lambda d: {"input": d.normal(3, 0, 5), "dims": [2, 1, 0]},
        }),
        timed(
            lambda d, *s: {"input": d.normal(*s), "dims": [0, 3, 1, 2]},
            ((8, 8, 8, 8), (16, 32, 32, 32), (32, 64, 64, 64), (64, 64, 96, 96)),
        ),
        Contract(exact()),
        wrong={"the inverse order": inverse_permutation},
    ),
    Task(
        "kernelbench_x/masked_select",
        "Index",
        "torch",
        masked_select,
        shown({
            "vector": lambda d: {"input": d.normal(4099), "mask": truths(d, 4099)},
            "matrix-fp16": lambda d: {"input": d.normal(37, 41, dtype=FP16), "mask": truths(d, 37, 41, share=0.3)},
            "cube-bf16": lambda d: {"input": d.normal(5, 7, 31, dtype=BF16), "mask": truths(d, 5, 7, 31, share=0.7)},
            "row-mask": lambda d: {"input": d.normal(29, 43), "mask": truths(d, 43)},
            "column-mask": lambda d: {"input": d.normal(17, 1, 23), "mask": truths(d, 1, 5, 23)},
            "few": lambda d: {"input": d.normal(997), "mask": truths(d, 997, share=0.02)},
            "int64": lambda d: {"input": d.integers(-(2**40), 2**40, 29, 17), "mask": truths(d, 29, 17)},
            "transposed": lambda d: {"input": transposed(d.normal(29, 43)), "mask": transposed(truths(d, 29, 43))},
            "none": lambda d: {"input": d.normal(7, 11), "mask": truths(d, 7, 11, share=0)},
        }) + hidden({
            "all": lambda d: {"input": d.normal(13, 67), "mask": truths(d, 13, 67, share=2)},
            "strided-nan": lambda d: {
                "input": strided(d.normal(13, 97).masked_fill(truths(d, 13, 97, share=0.1), NAN)), "mask": strided(truths(d, 13, 97))
            },
            "offset": lambda d: {"input": offset(d.normal(2, 3, 173)), "mask": offset(truths(d, 2, 3, 173, share=0.9), 1)},
        }),
        timed(lambda d, n: {"input": d.normal(n), "mask": half_true(d, n)}, ((1 << 12,), (1 << 18,), (1 << 22,), (1 << 24,))),
        Contract(exact()),
        wrong={
            "the first ones": first_elements,
            "column-major": column_major,
        },
    ),
    Task(
        "kernelbench_x/expand_where",
        "Index",
        "fused",
        expand_where,
        shown({
            "rows": lambda d: {"input": d.normal(1, 113), "target_sizes": [17, 113], "cond": truths(d, 17, 1), "other": d.normal(17, 113)},
            "each-fp16": lambda d: {
                "input": d.normal(1, 67, dtype=FP16), "target_sizes": [31, 67], "cond": truths(d, 31, 67),
                "other": d.normal(31, 67, dtype=FP16),
            },
            "columns-bf16": lambda d: {
                "input": d.normal(29, 1, dtype=BF16), "target_sizes": [29, 43], "cond": truths(d, 43), "other": d.normal(29, 43, dtype=BF16)
            },
            "kept-axis": lambda d: {"input": d.normal(1, 61), "target_sizes": [13, -1], "cond": truths(d, 13, 61), "other": d.normal(61)},
            "new-axes": lambda d: {"input": d.normal(37), "target_sizes": [3, 5, 37], "cond": truths(d, 5, 1), "other": d.normal(3, 1, 1)},
            "promoted": lambda d: {
                "input": d.normal(1, 41, dtype=FP16), "target_sizes": [19, 41], "cond": truths(d, 19, 41), "other": d.normal(19, 41)
            },
            "nan-not-chosen": lambda d: _hidden_nan(d.normal(23, 31), truths(d, 23, 31), d.normal(23, 31)),
            "transposed": lambda d: {
                "input": d.normal(1, 29), "target_sizes": [43, 29], "cond": transposed(truths(d, 43, 29)),
                "other": transposed(d.normal(43, 29)),
            },
            "int64": lambda d: {
                "input": d.integers(-(2**40), 2**40, 17, 1), "target_sizes": [17, 53], "cond": truths(d, 17, 53),
                "other": d.integers(-9, 9, 17, 53),
            },
        }) + hidden({
            "wider-condition": lambda d: {
                "input": d.normal(1, 31), "target_sizes": [7, 31], "cond": truths(d, 5, 7, 31), "other": d.normal(5, 1, 31)
            },
            "strided": lambda d: {
                "input": strided(d.normal(1, 47)), "target_sizes": [23, 47], "cond": strided(truths(d, 23, 47)),
                "other": strided(d.normal(23, 47), 3),
            },
            "offset": lambda d: {
                "input": offset(d.normal(2, 1, 59)), "target_sizes": [2, 11, 59], "cond": truths(d, 2, 11, 1),
                "other": offset(d.normal(11, 59), 1),
            },
        }),
        timed(
            lambda d, m, n: {"input": d.normal(1, n), "target_sizes": [m, n], "cond": truths(d, m, 1), "other": d.normal(m, n)},
            ((64, 1024), (256, 16384), (2048, 16384), (8192, 8192)),
        ),
        Contract(exact()),
        wrong={
            "the other branch": lambda input, target_sizes, cond, other: torch.where(cond, other, input.expand(*target_sizes)),
            "blended": lambda input, target_sizes, cond, other: input.expand(*target_sizes) * cond + other * ~cond,
        },
    ),
)  # fmt: skip


def _hidden_nan(input: Tensor, cond: Tensor, other: Tensor) -> dict[str, object]:
    """NaN wherever it is not chosen."""
    return {
        "input": input.masked_fill(~cond, NAN), "target_sizes": list(input.shape), "cond": cond, "other": other.masked_fill(cond, NAN)
    }  # fmt: skip
