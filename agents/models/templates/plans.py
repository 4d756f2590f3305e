"""Writes plans: what the wrapper does for one pattern, stage by stage, and the kernels that it launches."""

import inspect
import re
from dataclasses import dataclass, field

import torch

from agents.models.templates import dtypes
from agents.models.templates.calls import tensors
from agents.models.templates.graph import Declined, Node, Pool, Size, fits_int8, product, unwidened, walk
from agents.models.templates.kernels import RESULT, Kernel, Load
from agents.models.templates.patterns import Traced, elementwise
from agents.models.templates.products import META, matmul
from agents.models.templates.rows import INNER_DIMS, OUTER_DIMS, POINT_DIMS, looped, one_pass, parts, pointwise, split
from agents.models.templates.schedule import Axis, Stage, check, plan
from benchmark.task import Contract

BUFFER = {"f": "acc", "i": "torch.int64", "b": "torch.bool"}
"""Dtypes of intermediate results, by kind."""


@dataclass
class Module:
    """The text under construction; equal kernels and equal plans are written once."""

    kernels: dict[str, str] = field(default_factory=dict)
    plans: dict[str, str] = field(default_factory=dict)
    helpers: set[str] = field(default_factory=set)

    def kernel(self, stem: str, kernel: Kernel, parameters: list[str]) -> str:
        return self.kernels.setdefault(_function(parameters, kernel.body), f"{stem}_{len(self.kernels)}")

    def plan(self, parameters: list[str], body: list[str]) -> str:
        return self.plans.setdefault(_function(parameters, body), f"plan_{len(self.plans)}")


def _function(parameters: list[str], body: list[str]) -> str:
    return f"({', '.join(parameters)}):\n" + "\n".join(f"    {line}" for line in body)


def destination(signature: inspect.Signature) -> str:
    """The parameter that names where the result goes, if it goes anywhere; "" without."""
    return next((n for n, p in signature.parameters.items() if n == "out" and p.default is None), "")


class PlanWriter:
    """The wrapper's part for one pattern."""

    def __init__(self, contract: Contract, signature: inspect.Signature, traced: Traced, module: Module):
        self.contract, self.traced, self.module = contract, traced, module
        self.names, self.target = list(signature.parameters), destination(signature)
        self.pool = Pool()
        self.lines: list[str] = []
        self.made: dict[Node, str] = {}
        self.count = 0
        self.free = elementwise(traced.outputs)
        self.tensors = list(tensors(traced.arguments))

    def write(self) -> str:
        if not self.tensors:
            raise Declined("an operator without tensor arguments is not written")
        results = [self.root(root, i) for i, root in enumerate(self.traced.outputs)]
        body = [*self.head(), *self.lines, f"return {', '.join(results)}"]
        return self.module.plan(self.names, body)

    def head(self) -> list[str]:
        """The sizes that the plan mentions, and the dtype it computes in."""
        mentioned = set(re.findall(r"\bn_\w+", "\n".join(self.lines)))
        lines = []
        for name, sources in self.traced.sizes.items():
            if name in mentioned:
                lines.append(f"{name} = {sources[0]}" if len(sources) == 1 else f"{name} = _size({', '.join(sources)})")
        options = [n for n, v in self.traced.arguments.items() if isinstance(v, torch.dtype)]
        return [*lines, f"acc = _accumulate({', '.join([*(f'{t}.dtype' for t in self.tensors), *options])})"]

    def root(self, root: Node, i: int) -> str:
        """Computes an output into a tensor of its own."""
        dtype = dtypes.rule(self.traced.observed, i, {n: t.dim() for n, t in tensors(self.traced.arguments).items()})
        name, target = f"result{i or ''}", "" if i else self.target
        if root.op != "reshape":
            return self.stage(self.rooted(root), dtype, name, target)
        source = root.args[0]
        if target:
            self.lines.append(f"into = None if {target} is None else {target}.view({_shape(source.shape)})")
        self.stage(self.rooted(source), dtype, name, "into" if target else "")
        self.lines.append(f"{name} = {name}.reshape({_shape(root.shape)})")
        return name

    def rooted(self, root: Node) -> Node:
        """A value that some kernel writes: an argument or a view is copied."""
        if root.op in ("point", "reduce", "matmul"):
            return root
        return self.pool.node("point", root, shape=root.shape, kind=root.kind, name="cast")

    def tensor(self, node: Node, dtype: str = "") -> str:
        """The wrapper's expression for a value in memory, computed by an earlier stage where it is none yet."""
        if node.op == "input":
            return node.name
        if node.op == "reshape":
            return f"{self.laid(node.args[0], dtype)}.reshape({_shape(node.shape)})"
        if node.op == "window":
            return f"{self.laid(node.args[0], dtype)}{node.name}"
        if node not in self.made:
            chosen = "torch.int8" if fits_int8(node) else dtype or BUFFER[node.kind]
            self.count += 1
            self.made[node] = self.stage(self.rooted(node), chosen, f"t{self.count - 1}")
        return self.made[node]

    def laid(self, node: Node, dtype: str = "") -> str:
        """The same with views applied by the host."""
        if node.op != "view":
            return self.tensor(node, dtype)
        text = self.tensor(node.args[0], dtype)
        dropped = tuple(i for i, d in enumerate(node.dims) if d is None)
        if dropped:
            text += f".squeeze({dropped!r})"
        kept = [d for d in node.dims if d is not None]
        order = sorted(range(len(kept)), key=kept.__getitem__)
        if order != list(range(len(order))):
            text += f".permute({tuple(order)!r})"
        if len(kept) < len(node.shape):
            text += "[" + ", ".join(":" if d in kept else "None" for d in range(len(node.shape))) + "]"
        expanded = any(d not in kept and n != 1 for d, n in enumerate(node.shape))
        return f"{text}.expand({_shape(node.shape)})" if expanded else text

    def stage(self, root: Node, dtype: str, name: str, target: str = "") -> str:
        """Adds the lines that compute `root` into a tensor `name`, or into `target` where that is not None."""
        stage = plan(root)
        check(stage)
        made = {node: self.tensor(node) for node in sorted(stage.buffers, key=walk((root,)).index)}
        new = self.allocate(root, dtype)
        if stage.kind == "matmul":
            call = self.matmul(stage, made, name)
        elif stage.kind == "rows":
            call = self.rows(stage, made, name)
        elif self.free:
            call = self.elementwise(stage, name)
        else:
            call = self.pointwise(stage, made, name)
        self.lines.append(f"{name} = {new}" + (f" if {target} is None else {target}" if target else ""))
        self.lines.append(call)
        return name

    def allocate(self, root: Node, dtype: str) -> str:
        shape = _shape(root.shape)
        if self.free:
            shapes = [f"{t}.shape" for t in self.tensors]
            shape = f"torch.broadcast_shapes({', '.join(shapes)})" if len(shapes) > 1 else shapes[0]
        return f"torch.empty({shape}, dtype={dtype}, device={self.tensors[0]}.device)"

    def pointwise(self, stage: Stage, made: dict[Node, str], out: str) -> str:
        self.module.helpers.add("pointwise")
        kernel = pointwise(stage, made.__getitem__, RESULT)
        count = max(len(stage.outer), POINT_DIMS)
        name = self.module.kernel("pointwise", kernel, _parameters(kernel, ["n_rows", *_sizes("o", count)], {"o": count}, ["FLAT_O", "B"]))
        operands = ", ".join(f"({_tensor(x, out)}, {_dims(x, 'o', stage.outer)}, {x.looked!r})" for x in kernel.loads)
        return f"_pointwise({name}, {_axes(stage.outer)}, ({operands},){self.rest(kernel, stage)})"

    def elementwise(self, stage: Stage, out: str) -> str:
        self.module.helpers.add("pointwise")
        # Written for four dims: the launch joins what can be joined.
        stage = plan(lifted(self.pool, stage.root, tuple(f"d{k}" for k in range(POINT_DIMS))))
        kernel = pointwise(stage, self.tensor, RESULT)
        name = self.module.kernel("pointwise", kernel, _parameters(kernel, ["n_rows", *_sizes("o", 4)], {"o": 4}, ["FLAT_O", "B"]))
        operands = "".join(f"{x.tensor}, " for x in kernel.loads if x.tensor != RESULT)
        return f"_elementwise({name}, ({operands}), {out}{self.rest(kernel, stage)})"

    def rows(self, stage: Stage, made: dict[Node, str], out: str) -> str:
        self.module.helpers.add("rows")
        once = one_pass(stage, made.__getitem__, RESULT)
        kernels = [self.row_kernel("rows", once, stage)]
        if stage.outer or not stage.inner:
            kernels.append(self.row_kernel("rows_looped", looped(stage, made.__getitem__, RESULT, once), stage))
        rest = self.rest(once, stage)
        call = f"_rows(({', '.join(kernels)},), {_axes(stage.outer)}, {_axes(stage.inner)}, {_operands(once, stage, out)}{rest})"
        if len(kernels) > 1:
            return call
        self.module.helpers.add("split")
        first, second = split(stage, made.__getitem__, RESULT)
        names = [n for n, _ in parts(stage)]
        part = self.row_kernel("part", first, stage, names, ["CHUNK"])
        whole = self.row_kernel("whole", second, stage, names)
        kinds = ", ".join("torch.int32" if kind == "b" else BUFFER[kind] for _, kind in parts(stage))
        chunks = f"left = _split({part}, {_axes(stage.inner)}, {_operands(first, stage, out)}, ({kinds},){self.rest(first, stage)})"
        final = f"_whole({whole}, left, {_operands(second, stage, out)}{self.rest(second, stage)})"
        return f"if {product([a.size for a in stage.inner])} <= ONCE:\n        {call}\n    else:\n        {chunks}\n        {final}"

    def row_kernel(self, stem: str, kernel: Kernel, stage: Stage, before: list[str] | None = None, meta: list[str] | None = None) -> str:
        o, i = max(len(stage.outer), OUTER_DIMS), max(len(stage.inner), INNER_DIMS)
        bounds = ["n_rows", *_sizes("o", o), "n_cols", *_sizes("i", i)]
        signature = _parameters(kernel, bounds, {"o": o, "i": i}, ["FLAT_O", "FLAT_I", "R", "B", *(meta or [])])
        return self.module.kernel(stem, kernel, [*(before or []), *signature])

    def matmul(self, stage: Stage, made: dict[Node, str], out: str) -> str:
        self.module.helpers.add("matmul")
        kernel, node = matmul(stage, made.__getitem__, RESULT)
        name = self.module.kernel("matmul", kernel, _product_parameters(kernel))
        left, right = node.args
        shape = (1,) * (3 - len(stage.root.shape)) + stage.root.shape
        size = _shape((*shape, left.shape[-1]))
        operands = ", ".join(f"({_tensor(x, out)}, {x.dims['b']!r}, {x.dims['m']!r}, {x.dims['n']!r}, {x.looked!r})" for x in kernel.loads)
        precision = "tf32" if self.contract.tf32 else "ieee"
        rest = self.rest(kernel, stage) + f', PRECISION="{precision}"'
        return f'_matmul({name}, {size}, {self.factor(left)}, {self.factor(right)}, ({operands},), "{node.kind}", acc{rest})'

    def factor(self, node: Node) -> str:
        """A product's operand: its tensor, and the tensor's dim along batch and the two dims of the product."""
        node = unwidened(node)
        rank = len(node.shape)
        source, places = (node.args[0], node.dims) if node.op == "view" else (node, tuple(range(rank)))
        floating = [f"{n}.dtype" for n, t in tensors(self.traced.arguments).items() if t.dtype.is_floating_point]
        text = self.tensor(source, floating[0] if floating and node.kind == "f" else "")
        found = tuple(places.index(d) if d >= 0 and d in places else None for d in (rank - 3, rank - 2, rank - 1))
        return f"({text}, {found!r})"

    def rest(self, kernel: Kernel, stage: Stage) -> str:
        pairs = [f"{k}={v}" for k, v in (kernel.sizes | kernel.scalars).items()]
        if stage.counted:
            pairs.insert(0, "join=False")
        return "".join(f", {p}" for p in [*pairs, "ACC=_TL[acc]"])


def lifted(pool: Pool, node: Node, shape: tuple[Size, ...]) -> Node:
    """An elementwise graph over other dims, to which every tensor is broadcast."""
    if node.op == "view":
        return lifted(pool, node.args[0], shape)
    if node.op == "input":
        return pool.node("input", shape=shape, kind=node.kind, name=node.name, value=node.value)
    if node.op == "point":
        return pool.point(node.name, *(lifted(pool, a, shape) for a in node.args), kind=node.kind)
    return node


def _tensor(load: Load, out: str) -> str:
    return out if load.tensor == RESULT else load.tensor


def _sizes(group: str, count: int) -> list[str]:
    return [f"{group}n{k}" for k in range(1, count)]


def _parameters(kernel: Kernel, bounds: list[str], counts: dict[str, int], meta: list[str]) -> list[str]:
    strides = [s for x in kernel.loads for s in _strides(x, counts)]
    constants = [f"{n}: tl.constexpr" for n in (*kernel.scalars, "ACC", *meta)]
    return [*(x.name for x in kernel.loads), *bounds, *strides, *kernel.sizes, *constants]


def _product_parameters(kernel: Kernel) -> list[str]:
    strides = ["left_b", "left_m", "left_k", "right_b", "right_k", "right_n"]
    for x in kernel.loads:
        strides += _strides(x, {g: len(dims) for g, dims in x.dims.items()})
    constants = [f"{n}: tl.constexpr" for n in (*kernel.scalars, "ACC", *META)]
    return ["left", "right", *(x.name for x in kernel.loads), "M", "N", "K", *strides, *kernel.sizes, *constants]


def _strides(load: Load, counts: dict[str, int]) -> list[str]:
    along = [f"{load.name}_{g}{k}" for g, count in counts.items() for k in range(count)]
    return [*along, *(f"{load.name}_g{k}" for k in range(len(load.looked)))]


def _operands(kernel: Kernel, stage: Stage, out: str) -> str:
    found = (f"({_tensor(x, out)}, {_dims(x, 'o', stage.outer)}, {_dims(x, 'i', stage.inner)}, {x.looked!r})" for x in kernel.loads)
    return "(" + "".join(f"{text}, " for text in found) + ")"


def _dims(load: Load, group: str, axes: list[Axis]) -> str:
    """The tensor's dims along the axes that a stage has, without those that the kernel is padded with."""
    return repr(load.dims[group][len(load.dims[group]) - len(axes) :])


def _shape(shape: tuple[Size, ...]) -> str:
    return f"({shape[0]},)" if len(shape) == 1 else f"({', '.join(str(n) for n in shape)})"


def _axes(axes: list[Axis]) -> str:
    return _shape(tuple(a.size for a in axes))
