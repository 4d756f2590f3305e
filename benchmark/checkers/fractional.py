"""Fractional max pooling: each plane must be a max pooling over windows whose starts form a legal pseudo-random sequence."""

from dataclasses import dataclass

import torch
from torch.nn import functional

from benchmark.checkers.chance import correlated, reach, surprising, tied
from benchmark.checkers.form import each
from benchmark.checkers.same import shares
from benchmark.checkers.windows import Windows, windows
from benchmark.task import Arguments, Check, Oracle

Tensor = torch.Tensor
GOOD = Check(True, matched=1.0)
BATCH = 1 << 24
"""Elements of the comparisons that are made at a time."""
ODD = 0.02
"""Sequences that rounding alone leads to may make up this share, as they do where u is drawn in half precision."""


@dataclass(frozen=True)
class fractional:
    """`Task.truth` returns the tensor (..., H, W) that is pooled. The first output is its pooling, a second one the places of the maxima.

    For each plane there must be a legal sequence of rows and one of columns (see `windows`) whose windows have exactly these
    maxima. Each sequence must come about as often as u is uniform, on both axes and in all planes independently, anew in each call.
    """

    kernel: str = "kernel_size"
    """The argument that holds the size of a window: a number, or rows and columns."""

    def __call__(self, oracle: Oracle, actual: tuple[Tensor, ...], arguments: Arguments) -> Check:
        def one(index: int) -> Check:
            found = self._found(oracle, actual[: index + 1], arguments)
            right = found.possible.reshape(*actual[0].shape[:-2], 1, 1).expand_as(actual[0])
            if not bool(right.all()):
                what = "is of a plane that no legal windows lead to" if index == 0 else "is of a plane with a place that holds no maximum"
                return shares(right, what)
            fault = found.fault if index == 0 else ""
            return Check(False, "wrong_numeric", fault) if fault else GOOD

        return each(oracle, actual, one)

    def fresh(self, oracle: Oracle, first: tuple[Tensor, ...], second: tuple[Tensor, ...], arguments: Arguments) -> Check:
        """Whether two right results for the same arguments were drawn independently."""
        left, right = (self._found(oracle, outputs, arguments) for outputs in (first, second))
        for axis in (0, 1):
            both = left.known(axis) & right.known(axis)
            own, other = (torch.where(both, of.scores(axis), 0.0) for of in (left, right))
            if tied(own, other, left.axes[axis].variance, 0.5):
                return Check(False, "wrong_numeric", "two calls on the same inputs take the same windows: each call must draw anew")
        return GOOD

    def _found(self, oracle: Oracle, outputs: tuple[Tensor, ...], arguments: Arguments) -> "Found":
        kernel = arguments[self.kernel]
        size = (kernel, kernel) if isinstance(kernel, int) else tuple(kernel)
        return Found(oracle.expected[0].to(outputs[0].dtype).double(), outputs, size)

    @property
    def words(self) -> str:
        return (
            "each plane must be exactly the max pooling over windows whose starts are `int((i + u) * alpha) - int(u * alpha)`, "
            "alpha = (length - window) / (count - 1), the last one length - window, for one u uniform in [0, 1) for each plane and each "
            "of its two axes, drawn independently and anew in each call; a place may be that of any maximum of its window; torch's own "
            "random stream is not asked for"
        )


class Found:
    """Which legal sequences lead to the outputs, plane by plane."""

    def __init__(self, image: Tensor, outputs: tuple[Tensor, ...], size: tuple[int, ...]):
        (height, width), (rows, columns) = image.shape[-2:], outputs[0].shape[-2:]
        self.axes = windows(height, size[0], rows), windows(width, size[1], columns)
        self.image, self.size = image.reshape(-1, height, width), size
        self.values = outputs[0].reshape(-1, rows, columns).double()
        self.places = outputs[1].reshape(-1, rows, columns) if len(outputs) > 1 else None
        self.maxima = functional.max_pool2d(self.image, size, stride=1) if self.image.numel() else self.image
        self.starts = [axis.starts(image.device) for axis in self.axes]
        self.pairs = self._pairs()
        self.possible = self.pairs.flatten(1).any(1)

    def _pairs(self) -> Tensor:
        """(planes, row sequences, column sequences): whether the pair leads to the plane."""
        rows, columns = self.starts
        step = max(1, BATCH // max(1, 9 * self.values[0].numel() if len(self.values) else 1))
        parts = [self._some(slice(start, start + step)) for start in range(0, len(self.values), step)]
        return torch.cat(parts) if parts else torch.zeros(0, len(rows), len(columns), dtype=torch.bool, device=rows.device)

    def _some(self, planes: slice) -> Tensor:
        """A start takes few values over all the sequences: each is compared once."""
        rows, columns = self.starts
        low = rows.amin(0), columns.amin(0)
        reaches = int((rows - low[0]).max()) + 1, int((columns - low[1]).max()) + 1
        equal = torch.stack(
            [torch.stack([self._equal(planes, low[0] + a, low[1] + b) for b in range(reaches[1])], 1) for a in range(reaches[0])], 1
        )
        across, down = (torch.arange(starts.shape[1], device=rows.device) for starts in (columns, rows))
        answers = []
        for chosen in rows - low[0]:
            # (rows, planes, column choices, columns), as indices on both sides of a slice come first.
            by_column = equal[:, chosen, :, down, :].all(0)
            answers.append(by_column[:, columns - low[1], across].all(-1))
        return torch.stack(answers, 1)

    def _equal(self, planes: slice, top: Tensor, left: Tensor) -> Tensor:
        """Where the windows with these starts have the outputs, and the places that are given lie in them at such a value."""
        top, left = top.clamp(max=self.axes[0].slack)[:, None], left.clamp(max=self.axes[1].slack)[None, :]
        maxima, values = self.maxima[planes][:, top, left], self.values[planes]
        equal = (maxima == values) | (maxima.isnan() & values.isnan())
        if self.places is None:
            return equal
        places, width = self.places[planes], self.image.shape[2]
        y, x = places.div(width, rounding_mode="floor") - top, places % width - left
        inside = (y >= 0) & (y < self.size[0]) & (x >= 0) & (x < self.size[1])
        there = self.image[planes].flatten(1).gather(1, torch.where(inside, places, 0).flatten(1)).reshape(values.shape)
        return equal & inside & ((there == values) | (there.isnan() & values.isnan()))

    def scores(self, axis: int) -> Tensor:
        """Those of the first sequence that is possible in each plane."""
        return self.axes[axis].scores(self.image.device)[self._first(axis)]

    def _first(self, axis: int) -> Tensor:
        return self._along(axis).byte().argmax(1)

    def _along(self, axis: int) -> Tensor:
        """(planes, sequences of the axis): whether it is possible with some sequence of the other axis."""
        return self.pairs.any(2 - axis)

    def known(self, axis: int) -> Tensor:
        """Planes in which the sequences of the axis all lead to different results, with the other axis as it was found."""
        image = self.maxima if axis == 0 else self.maxima.mT
        if not image.numel():
            return torch.zeros(0, dtype=torch.bool, device=image.device)
        other, own = self.starts[1 - axis][self._first(1 - axis)], self.starts[axis]
        picked = image.gather(2, other[:, None, :].expand(-1, image.shape[1], -1)).nan_to_num()
        # Sums with weights of no pattern are different where the results are.
        sums = (picked * torch.arange(1, picked.shape[2] + 1, device=image.device, dtype=torch.float64).sqrt()).sum(2)
        often = self.axes[axis].shares(image.device) > 0
        weights = torch.arange(2, own.shape[1] + 2, device=image.device, dtype=torch.float64).log()
        results = torch.stack([(sums[:, starts] * weights).sum(1) for starts in own[often]], 1).sort(1).values
        return (results.diff(dim=1) != 0).all(1)

    @property
    def fault(self) -> str:
        """What is wrong with how the sequences were drawn; "" where nothing is."""
        names, samples = ("rows", "columns"), []
        for axis, name in enumerate(names):
            own, known = self.axes[axis], self.known(axis)
            if self._uneven(own, self._along(axis)):
                return f"the windows' {name} do not come from a u that is uniform in [0, 1)"
            samples.append(torch.where(known, self.scores(axis), 0.0))
            if own.variance and correlated(samples[-1], known, own.variance, 0.5) is not None:
                return f"the windows' {name} are not drawn independently for each plane"
            if bool(samples[-1].sum().abs() > reach(own.variance * known.sum().double(), 0.5) + 1e-6):
                return f"the windows' {name} do not come from a u that is uniform in [0, 1)"
        if tied(samples[0], torch.where(self.known(0), samples[1], 0.0), self.axes[1].variance, 0.5):
            return "the windows' rows and columns are not drawn independently"
        return ""

    def _uneven(self, axis: Windows, possible: Tensor) -> bool:
        """Whether a sequence is surely seen too often, or seen too seldom even where each plane that may be one counts."""
        share, total = axis.shares(possible.device), torch.tensor(float(len(possible)), dtype=torch.float64, device=possible.device)
        surely = (possible & (possible.sum(1, keepdim=True) == 1)).sum(0).double()
        at_most, at_least = (share + ODD).clamp(max=1 - 1e-9), (share - ODD).clamp(min=1e-9, max=1 - 1e-9)
        often = (surely > total * at_most) & surprising(surely, total, at_most)
        may_be = possible.sum(0).double()
        seldom = (share > ODD) & (may_be < total * at_least) & surprising(may_be, total, at_least)
        return bool((often | seldom).any())
