"""SpatialOps of KernelBench-X: resampling of images and volumes."""

from typing import Any

import torch
from torch import Tensor
from torch.nn import functional

from benchmark.checkers import close
from benchmark.draw import Draw, offset, strided, transposed
from benchmark.suites.kernelbench_x._honest import rounded_once
from benchmark.task import Arguments, Contract, Task, hidden, shown, timed

FP16, BF16 = torch.float16, torch.bfloat16
OUTSIDE = (
    "Coordinates, weights and sums are computed in float32 for fp16 and bf16, and the result is rounded once.",
    'A coordinate that is NaN counts as index 0 with "border" and "reflection"; with "zeros" none occurs.',
)


def grid_sample(input: Tensor, grid: Tensor, mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False) -> Tensor:
    """Values of `input` (N, C, H, W) at the places of `grid` (N, HO, WO, 2), which hold (x, y), giving (N, C, HO, WO); or of `input`
    (N, C, D, H, W) at those of `grid` (N, DO, HO, WO, 3), which hold (x, y, z), giving (N, C, DO, HO, WO).

    Place -1 is the first and 1 the last index of an axis of S elements: index = (place + 1) / 2 * (S - 1) with `align_corners`; else
    they are the outer edges of those, and index = ((place + 1) * S - 1) / 2.

    `padding_mode` says what an index outside 0 .. S - 1 means. "border": it is moved to the nearest end. "reflection": it is
    reflected as often as needed (at 0 and S - 1 with `align_corners`, else at -0.5 and S - 0.5, and then moved into 0 .. S - 1).
    "zeros": every element beyond the ends is 0.

    `mode="bilinear"` weighs the 4 neighbours (8 in a volume) by their distances; "nearest" takes the element at the index rounded half
    to even."""
    return functional.grid_sample(input, grid, mode, padding_mode, align_corners)


def grid_sample_with_affine(
    input: Tensor, theta: Tensor, size: tuple[int, ...], mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
) -> Tensor:
    """Values of `input` (N, C, H, W) at the affine images of a regular grid; the result has the `size` (N, C, HO, WO).

    Output column x of WO stands at place 2 * x / (WO - 1) - 1 with `align_corners` (0 where WO is 1), else at (2 * x + 1) / WO - 1; rows
    likewise. `theta` (N, 2, 3), converted to float32 at least, maps (x, y, 1) to the place (x', y') in the input. There the input is
    sampled by the rules of torch.nn.functional.grid_sample: a place p is the index (p + 1) / 2 * (W - 1) with `align_corners`, else
    ((p + 1) * W - 1) / 2; beyond the ends there are zeros, or the nearest end ("border"), or mirror images ("reflection", at the
    first and the last element with `align_corners`, else at their outer edges); "bilinear" weighs 4 neighbours by distance, "nearest"
    rounds half to even, and "bicubic" weighs 4 x 4 neighbours by the cubic convolution kernel with a = -0.75, each of them
    found by the padding rule."""
    wide = torch.promote_types(input.dtype, torch.float32)
    grid = functional.affine_grid(theta.to(wide), list(size), align_corners)
    return functional.grid_sample(input.to(wide), grid, mode, padding_mode, align_corners).to(input.dtype)


def affine_terms(
    input: Tensor, theta: Tensor, size: tuple[int, ...], mode: str = "bilinear", padding_mode: str = "zeros", align_corners: bool = False
) -> Tensor:
    """What an error of an index by its own size in fp32 may change: the largest neighbour, as often as the axis is long."""
    around = functional.max_pool2d(input.abs(), 5, 1, 2) * max(input.shape[-2:])
    padding = "border" if padding_mode == "zeros" else padding_mode
    return grid_sample_with_affine(around, theta, size, "nearest", padding, align_corners)


def interpolate(
    input: Tensor,
    size: int | tuple[int, ...] | None = None,
    scale_factor: float | tuple[float, ...] | None = None,
    mode: str = "nearest",
    align_corners: bool | None = None,
) -> Tensor:
    """`input` (N, C, and 1 to 3 axes) resized along the axes after C to `size`, or to floor(length * scale_factor); a single number
    stands for all axes, and exactly one of both is given.

    `mode` is "nearest", "linear" (one axis), "bilinear" (two), "trilinear" (three) or "bicubic" (two). With r = length / new length,
    or 1 / scale_factor where that is given, output index o is taken from the input index i. "nearest": i = floor(o * r). Else
    i = o * (length - 1) / (new length - 1) with `align_corners` (0 where the new length is 1), and i = (o + 0.5) * r - 0.5 without,
    which the linear modes raise to 0 where it is negative. The linear modes weigh the two neighbours on each axis by distance, the
    last element standing for those beyond it; "bicubic" weighs four on each axis by the cubic convolution kernel with a = -0.75,
    the ends standing for elements beyond them."""
    return functional.interpolate(input, size, scale_factor, mode, align_corners)


def places(
    d: Draw, image: tuple[int, ...], *shape: int, align: bool = False, beyond: int = 2, dtype: torch.dtype = torch.float32
) -> Tensor:
    """A grid that points near elements of an image (..., H, W), up to `beyond` outside, and never near the middle between two, where
    the nearest one would be a matter of rounding."""
    axes = []
    for length in reversed(image):
        index = d.integers(-beyond, length + beyond, *shape).float() + d.uniform(*shape, low=-0.4, high=0.4)
        axes.append(2 * index / max(1, length - 1) - 1 if align else (2 * index + 1) / length - 1)
    return torch.stack(axes, -1).to(dtype)


def sampled(
    d: Draw,
    image: tuple[int, ...],
    out: tuple[int, ...],
    batch: int = 2,
    channels: int = 3,
    dtype: torch.dtype = torch.float32,
    **options: Any,
) -> Arguments:
    grid = places(d, image, batch, *out, align=options.get("align_corners", False), dtype=dtype)
    return {"input": d.normal(batch, channels, *image, dtype=dtype), "grid": grid, **options}


def spoilt(arguments: Arguments, *values: float) -> Arguments:
    """The first coordinates of the grid are `values`."""
    grid = arguments["grid"].clone()
    grid.view(-1)[: len(values)] = torch.tensor(values, dtype=grid.dtype, device=grid.device)
    return {**arguments, "grid": grid}


def affine(d: Draw, batch: int, image: tuple[int, int], *size: int, dtype: torch.dtype = torch.float32, **options: Any) -> Arguments:
    """Maps that turn, stretch and move a little."""
    steady = torch.tensor([[1.0, 0, 0], [0, 1, 0]], device=d.device)
    return {
        "input": d.normal(batch, size[1], *image, dtype=dtype), "theta": d.normal(batch, 2, 3, scale=0.4) + steady,
        "size": size, **options,
    }  # fmt: skip


def shift(d: Draw, batch: int, channels: int, height: int, width: int, dtype: torch.dtype = torch.float32, **options: Any) -> Arguments:
    """Mirrored images moved by parts of an element, never near a half: what lies nearest is no matter of rounding."""
    arguments = affine(d, batch, (height, width), batch, channels, height, width, dtype=dtype, **options)
    mirror = torch.tensor([[-1.0, 0, 0], [0, 1, 0]], device=arguments["theta"].device).expand(batch, 2, 3)
    lengths = torch.tensor([width, height], device=mirror.device) - int(bool(options.get("align_corners")))
    step = d.integers(-2, 3, batch, 2) + d.uniform(batch, 2, low=-0.4, high=0.4)
    return arguments | {"theta": torch.cat([mirror[..., :2], (2 * step / lengths)[..., None]], -1)}


def mirrors(d: Draw, batch: int) -> Tensor:
    """Whole numbers that mirror one axis, or both, or none."""
    ends = d.integers(0, 2, batch, 2) * 2 - 1
    return torch.cat([torch.diag_embed(ends), 0 * ends[..., None]], -1)


def swapped(grid: Tensor, **a: Any) -> Tensor:
    return grid_sample(grid=grid.flip(-1), **a)


def other_corners(function: Any) -> Any:
    return lambda **a: function(**a | {"align_corners": not a.get("align_corners", False)})


def corners_switched(**a: Any) -> Tensor:
    switched = a.get("mode", "nearest") != "nearest"
    return interpolate(**a | {"align_corners": not a.get("align_corners")} if switched else a)


def rounded_nearest(**a: Any) -> Tensor:
    """The element nearest to the middle, which is not what "nearest" means here."""
    return functional.interpolate(**a | {"mode": "nearest-exact"}) if a.get("mode", "nearest") == "nearest" else interpolate(**a)


TASKS = (
    Task(
        "kernelbench_x/grid_sample",
        "SpatialOps",
        "torch.nn.functional",
        grid_sample,
        shown({
            "fp32": lambda d: sampled(d, (13, 17), (11, 7)),
            "nearest": lambda d: sampled(d, (7, 9), (9, 13), mode="nearest"),
            "border": lambda d: sampled(d, (11, 6), (7, 11), padding_mode="border"),
            "reflection": lambda d: sampled(d, (5, 7), (11, 9), padding_mode="reflection"),
            "corners": lambda d: sampled(d, (9, 13), (8, 7), align_corners=True),
            "reflection-corners-fp16": lambda d: sampled(
                d, (8, 8), (9, 8), dtype=FP16, padding_mode="reflection", align_corners=True, mode="bilinear"
            ),
            "bf16": lambda d: sampled(d, (9, 7), (7, 11), dtype=BF16),
            "volume": lambda d: sampled(d, (5, 7, 6), (3, 5, 4)),
            "volume-nearest-corners": lambda d: sampled(d, (4, 5, 6), (3, 4, 5), mode="nearest", align_corners=True, padding_mode="border"),
            "far": lambda d: spoilt(sampled(d, (7, 5), (5, 9)), 1e10, -0.3, -1e10, 0.2, 0.5, 3e4, -7.0, 7.0),
        }) + hidden({
            "nan-border": lambda d: spoilt(
                sampled(d, (6, 7), (7, 5), padding_mode="border"), float("nan"), 0.1, 0.3, float("nan"), float("inf"), 1e9
            ),
            "nan-reflection-nearest": lambda d: spoilt(
                sampled(d, (6, 7), (7, 5), padding_mode="reflection", mode="nearest", align_corners=True),
                float("nan"), 0.2, 0.3, float("nan"),
            ),
            "strided-volume": lambda d: {
                n: strided(t) if isinstance(t, Tensor) else t
                for n, t in sampled(d, (4, 3, 7), (2, 5, 4), padding_mode="reflection", mode="bilinear").items()
            },
            "one-element": lambda d: sampled(d, (1, 1), (5, 4), padding_mode="zeros", batch=1),
        }),
        timed(
            lambda d, n, c, side: {"input": d.normal(n, c, side, side), "grid": d.uniform(n, side // 2, side // 2, 2, low=-1, high=1)},
            ((2, 3, 64), (8, 3, 256), (16, 3, 512), (16, 3, 1024)),
        ),
        Contract(close(), notes=OUTSIDE),
        honest=rounded_once(grid_sample),
        wrong={"x and y swapped": swapped, "the other corners": other_corners(grid_sample)},
    ),
    Task(
        "kernelbench_x/grid_sample_with_affine",
        "SpatialOps",
        "torch.nn.functional",
        grid_sample_with_affine,
        shown({
            "fp32": lambda d: affine(d, 2, (13, 17), 2, 3, 11, 7),
            "nearest": lambda d: shift(d, 2, 3, 9, 11, mode="nearest"),
            "border": lambda d: affine(d, 2, (7, 9), 2, 3, 9, 13, padding_mode="border"),
            "reflection": lambda d: affine(d, 1, (8, 5), 1, 5, 11, 9, padding_mode="reflection"),
            "corners": lambda d: affine(d, 2, (9, 13), 2, 3, 8, 7, align_corners=True),
            "bicubic": lambda d: affine(d, 1, (9, 7), 1, 3, 8, 11, mode="bicubic"),
            "bicubic-border-corners": lambda d: affine(d, 2, (6, 7), 2, 2, 9, 5, mode="bicubic", padding_mode="border", align_corners=True),
            "fp16": lambda d: affine(d, 2, (8, 8), 2, 3, 9, 8, dtype=FP16),
            "bf16-nearest-reflection": lambda d: shift(d, 2, 3, 7, 8, dtype=BF16, mode="nearest", padding_mode="reflection"),
            "whole-numbers": lambda d: affine(d, 2, (7, 9), 2, 4, 7, 9) | {"theta": mirrors(d, 2)},
        }) + hidden({
            "bicubic-reflection": lambda d: affine(d, 2, (7, 6), 2, 2, 5, 9, mode="bicubic", padding_mode="reflection"),
            "transposed-nearest-corners": lambda d: (a := shift(d, 2, 3, 8, 7, mode="nearest", align_corners=True, padding_mode="border"))
            | {"input": transposed(a["input"])},
            "narrow": lambda d: affine(d, 2, (9, 1), 2, 3, 8, 3, padding_mode="reflection"),
        }),
        timed(
            lambda d, n, c, side: affine(d, n, (side, side), n, c, side, side), ((1, 3, 64), (4, 3, 256), (16, 3, 512), (16, 3, 1024))
        ),
        Contract(close(), notes=OUTSIDE[:1]),
        magnitude=affine_terms,
        wrong={
            "the other corners": other_corners(grid_sample_with_affine),
            "theta transposed": lambda theta, **a: grid_sample_with_affine(
                theta=torch.cat([theta[..., :2].mT, theta[..., 2:]], -1), **a
            ),
        },
    ),
    Task(
        "kernelbench_x/interpolate",
        "SpatialOps",
        "torch.nn.functional",
        interpolate,
        shown({
            "nearest": lambda d: {"input": d.normal(2, 3, 7, 9), "size": (13, 10)},
            "nearest-scale-fp16": lambda d: {"input": d.normal(2, 3, 10, 5, dtype=FP16), "scale_factor": (1.6, 2.0)},
            "bilinear": lambda d: {"input": d.normal(2, 3, 9, 7), "size": (13, 16), "mode": "bilinear", "align_corners": False},
            "bilinear-corners-bf16": lambda d: {
                "input": d.normal(2, 3, 8, 8, dtype=BF16), "size": 13, "mode": "bilinear", "align_corners": True
            },
            "bilinear-scale": lambda d: {"input": d.normal(2, 2, 11, 13), "scale_factor": 2.3, "mode": "bilinear"},
            "smaller": lambda d: {"input": d.normal(1, 5, 31, 29), "size": (7, 11), "mode": "bilinear"},
            "bicubic": lambda d: {"input": d.normal(1, 3, 9, 8), "size": (14, 11), "mode": "bicubic", "align_corners": False},
            "bicubic-corners-fp16": lambda d: {
                "input": d.normal(1, 3, 8, 9, dtype=FP16), "size": (13, 17), "mode": "bicubic", "align_corners": True
            },
            "linear": lambda d: {"input": d.normal(3, 7, 31), "size": 47, "mode": "linear"},
            "trilinear": lambda d: {"input": d.normal(1, 2, 5, 6, 7), "size": (7, 9, 5), "mode": "trilinear", "align_corners": False},
        }) + hidden({
            "nearest-volume": lambda d: {"input": strided(d.normal(1, 2, 5, 3, 8)), "scale_factor": 0.8},
            "bicubic-scale": lambda d: {"input": transposed(d.normal(2, 2, 11, 7)), "scale_factor": (0.7, 1.9), "mode": "bicubic"},
            "to-one": lambda d: {"input": offset(d.normal(2, 5, 8, 9)), "size": (1, 4), "mode": "bilinear", "align_corners": True},
            "nearest-line": lambda d: {"input": d.outliers(3, 5, 23), "size": (37,)},
        }),
        timed(
            lambda d, n, c, side: {"input": d.normal(n, c, side, side), "scale_factor": 2.0, "mode": "bilinear", "align_corners": False},
            ((2, 3, 32), (8, 16, 64), (16, 32, 128), (16, 32, 256)),
        ),
        Contract(close(), notes=OUTSIDE[:1]),
        honest=rounded_once(interpolate),
        wrong={"the other corners": corners_switched, "nearest to the middle": rounded_nearest},
    ),
)  # fmt: skip
