"""Writes a module: kernels for every stage of every traced pattern, a plan per pattern, and a function that chooses among them."""

import inspect
import re
from dataclasses import dataclass, field

import torch

from agents.models.templates import dtypes, prelude
from agents.models.templates.calls import tensors
from agents.models.templates.graph import Declined, Node, Pool, Size, fits_int8, product, walk
from agents.models.templates.kernels import Kernel, Load
from agents.models.templates.products import matmul
from agents.models.templates.rows import INNER_DIMS, OUTER_DIMS, POINT_DIMS, looped, one_pass, parts, pointwise, split
from agents.models.templates.schedule import Axis, Stage, check, plan
from agents.models.templates.search import Parameters
from agents.models.templates.patterns import Traced, elementwise
from benchmark.task import Task

Units = tuple[tuple[int, int], ...]
"""Arguments and dims that must have size 1."""


@dataclass
class Module:
    """The text under construction; equal kernels and equal plans are written once."""

    kernels: dict[str, str] = field(default_factory=dict)
    plans: dict[str, str] = field(default_factory=dict)
    helpers: set[str] = field(default_factory=set)

    def kernel(self, stem: str, kernel: Kernel, signature: list[str]) -> str:
        text = f"({', '.join(signature)}):\n" + "\n".join(f"    {line}" for line in kernel.body)
        return self.kernels.setdefault(text, f"{stem}_{len(self.kernels)}")

    def plan(self, parameters: list[str], body: list[str]) -> str:
        text = f"({', '.join(parameters)}):\n" + "\n".join(f"    {line}" for line in body)
        return self.plans.setdefault(text, f"plan_{len(self.plans)}")


def write(task: Task, patterns: list[Traced], parameters: Parameters) -> str:
    """The candidate's source. Raises `Declined` when a pattern that the visible cases need cannot be written."""
    module = Module()
    signature = inspect.signature(task.reference)
    names = list(signature.parameters)
    table: dict[tuple[str, ...], dict[str, list[tuple[Units, str, str]]]] = {}
    for traced in patterns:
        try:
            chosen = PlanWriter(task, traced, module, names).write()
        except Declined:
            if traced.needed:
                raise
            continue
        how, key, units = _entry(traced, names)
        entries = table.setdefault(how, {}).setdefault(key, [])
        fits = f", lambda {', '.join(names)}: {traced.condition()}" if traced.conditions else ""
        if (units, fits) not in [entry[:2] for entry in entries]:
            entries.append((units, fits, chosen))
    return _text(task, signature, module, table, parameters)


def _entry(traced: Traced, names: list[str]) -> tuple[tuple[str, ...], str, tuple[tuple[int, int], ...]]:
    """How the pattern is recognised: what is read of each argument, the key that this gives, and the dims that must be 1."""
    free = elementwise(traced.outputs)
    how = tuple("value" if n in traced.exact else "class" if free else "kind" for n in names)
    keys = [_key(traced.arguments[n], h) for n, h in zip(names, how, strict=True)]
    units = [] if free else [
        (i, d) for i, n in enumerate(names) if isinstance(t := traced.arguments[n], torch.Tensor) for d, s in enumerate(t.shape) if s == 1
    ]  # fmt: skip
    return how, f"({', '.join(keys)},)", tuple(units)


def _key(value: object, how: str) -> str:
    if how == "value":
        return repr(tuple(value) if isinstance(value, (list, tuple)) else value)
    if isinstance(value, torch.Tensor):
        kind = "f" if value.dtype.is_floating_point else "b" if value.dtype == torch.bool else "i"
        return repr(kind if how == "class" else (kind, value.dim()))
    if isinstance(value, torch.dtype):
        return repr("f" if value.is_floating_point else str(value))
    if isinstance(value, (list, tuple)):
        return "(" + "".join(f"{_key(v, how)}, " for v in value) + ")"
    return repr(None if value is None else "n")


def _text(task: Task, signature: inspect.Signature, module: Module, table: dict, parameters: Parameters) -> str:  # type: ignore[type-arg]
    parts = [f'"""{task.entry_name}, written by rule."""\n\n', prelude.IMPORTS, "\n", parameters.text(), "\n", prelude.HELPERS]
    parts += [text for name, text in prelude.LAUNCHES.items() if name in module.helpers]
    for text, name in module.kernels.items():
        parts.append(f"\n\n@triton.jit\ndef {name}{text}\n")
    for text, name in module.plans.items():
        parts.append(f"\n\ndef {name}{text}\n")
    parts.append("\n\nPLANS = [\n")
    for how in sorted(table, key=lambda h: -h.count("value")):
        parts.append(f"    ({how!r}, {{\n")
        for key, entries in table[how].items():
            ordered = sorted(entries, key=lambda e: (-len(e[0]), not e[1]))
            parts.append(f"        {key}: [{', '.join(f'({units!r}, {name}{fits})' for units, fits, name in ordered)}],\n")
        parts.append("    }),\n")
    given = ", ".join(signature.parameters)
    parts.append(
        f"]\n\n\ndef {task.entry_name}({_signature(signature)}):\n    given = ({given},)\n    return _plan({_known(task, signature)})(*given)\n"
    )
    return "".join(parts)


def _known(task: Task, signature: inspect.Signature) -> str:
    """The arguments that choose a plan: a destination does not."""
    return "(" + "".join("None, " if n in destinations(signature) else f"{n}, " for n in signature.parameters) + ")"


def destinations(signature: inspect.Signature) -> list[str]:
    """Parameters that name where the result goes, if it goes anywhere."""
    return [n for n, p in signature.parameters.items() if n == "out" and p.default is None]


def _signature(signature: inspect.Signature) -> str:
    texts = []
    for name, p in signature.parameters.items():
        texts.append(name if p.default is inspect.Parameter.empty else f"{name}={p.default!r}")
    return ", ".join(texts)


class PlanWriter:
    """The wrapper's part for one pattern."""

    def __init__(self, task: Task, traced: Traced, module: Module, names: list[str]):
        self.task, self.traced, self.module, self.names = task, traced, module, names
        self.pool = Pool()
        self.lines: list[str] = []
        self.made: dict[Node, str] = {}
        self.count = 0
        self.free = elementwise(traced.outputs)
        self.tensors = list(tensors(traced.arguments))

    def write(self) -> str:
        if not self.tensors:
            raise Declined("an operator without tensor arguments is not written")
        results = []
        for i, root in enumerate(self.traced.outputs):
            results.append(self.root(root, i))
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
        name = f"result{i or ''}"
        target = next(iter(destinations(inspect.signature(self.task.reference))), "") if not i else ""
        if root.op == "reshape":
            source = root.args[0]
            into = f"None if {target} is None else {target}.view({_shape(source.shape)})" if target else ""
            if target:
                self.lines.append(f"into = {into}")
            self.stage(self.rooted(source), dtype, name, "into" if target else "")
            self.lines.append(f"{name} = {name}.reshape({_shape(root.shape)})")
            return name
        return self.stage(self.rooted(root), dtype, name, target)

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
            chosen = "torch.int8" if fits_int8(node) else dtype or {"f": "acc", "i": "torch.int64", "b": "torch.bool"}[node.kind]
            self.count += 1
            self.made[node] = self.stage(self.rooted(node), chosen, f"t{self.count - 1}")
        return self.made[node]

    def laid(self, node: Node, dtype: str = "") -> str:
        """The same with views applied by the host."""
        if node.op != "view":
            return self.tensor(node, dtype)
        text, source = self.tensor(node.args[0], dtype), node.args[0]
        dropped = tuple(i for i, d in enumerate(node.dims) if d is None)
        if dropped:
            text += f".squeeze({dropped!r})"
        kept = [d for d in node.dims if d is not None]
        order = sorted(range(len(kept)), key=kept.__getitem__)
        if order != list(range(len(order))):
            text += f".permute({tuple(order)!r})"
        if len(kept) < len(node.shape):
            text += "[" + ", ".join(":" if d in kept else "None" for d in range(len(node.shape))) + "]" if node.shape else ""
        expanded = any(d not in kept and n != 1 for d, n in enumerate(node.shape))
        assert source.kind == node.kind
        return f"{text}.expand({_shape(node.shape)})" if expanded else text

    def stage(self, root: Node, dtype: str, name: str, destination: str = "") -> str:
        stage = plan(root)
        check(stage)
        made = {node: self.tensor(node) for node in sorted(stage.buffers, key=walk((root,)).index)}
        new = self.allocate(root, dtype)
        if stage.kind == "matmul":
            call = self.matmul(stage, made, name)
        elif stage.kind == "rows":
            call = self.rows(stage, made, name)
        elif self.free:
            call = self.elementwise(stage, made, name)
        else:
            call = self.pointwise(stage, made, name)
        self.lines.append(f"{name} = {new}" + (f" if {destination} is None else {destination}" if destination else ""))
        self.lines.append(call)
        return name

    def allocate(self, root: Node, dtype: str) -> str:
        if self.free:
            used = [t for t in self.tensors]
            shape = f"torch.broadcast_shapes({', '.join(f'{t}.shape' for t in used)})" if len(used) > 1 else f"{used[0]}.shape"
        else:
            shape = _shape(root.shape)
        return f"torch.empty({shape}, dtype={dtype}, device={self.tensors[0]}.device)"

    def pointwise(self, stage: Stage, made: dict[Node, str], out: str) -> str:
        self.module.helpers.add("pointwise")
        kernel = pointwise(stage, made.__getitem__, "RESULT")
        count = max(len(stage.outer), POINT_DIMS)
        name = self.module.kernel("pointwise", kernel, _parameters(kernel, ["n_rows", *_sizes("o", count)], {"o": count}, ["FLAT_O", "B"]))
        operands = ", ".join(f"({_tensor(x, out)}, {_dims(x, 'o', stage.outer)}, {x.looked!r})" for x in kernel.loads)
        return f"_pointwise({name}, {_axes(stage.outer)}, ({operands},){self.rest(kernel, stage)})"

    def elementwise(self, stage: Stage, made: dict[Node, str], out: str) -> str:
        self.module.helpers.add("pointwise")
        # Written for four dims: the launch joins what can be joined.
        stage = plan(lifted(self.pool, stage.root, tuple(f"d{k}" for k in range(POINT_DIMS))))
        kernel = pointwise(stage, self.tensor, "RESULT")
        name = self.module.kernel("pointwise", kernel, _parameters(kernel, ["n_rows", *_sizes("o", 4)], {"o": 4}, ["FLAT_O", "B"]))
        operands = "".join(f"{x.tensor}, " for x in kernel.loads if x.tensor != "RESULT")
        return f"_elementwise({name}, ({operands}), {out}{self.rest(kernel, stage)})"

    def rows(self, stage: Stage, made: dict[Node, str], out: str) -> str:
        self.module.helpers.add("rows")
        once = one_pass(stage, made.__getitem__, "RESULT")
        kernels = [self.row_kernel("rows", once, stage)]
        if stage.outer or not stage.inner:
            kernels.append(self.row_kernel("rows_looped", looped(stage, made.__getitem__, "RESULT", once), stage))
        rest = self.rest(once, stage)
        call = f"_rows(({', '.join(kernels)},), {_axes(stage.outer)}, {_axes(stage.inner)}, {_operands(once, stage, out)}{rest})"
        if len(kernels) > 1:
            return call
        self.module.helpers.add("split")
        first, second = split(stage, made.__getitem__, "RESULT")
        found = parts(stage)
        names = [n for n, _ in found]
        part = self.row_kernel("part", first, stage, names, ["CHUNK"])
        whole = self.row_kernel("whole", second, stage, names)
        left = ", ".join({"f": "acc", "i": "torch.int64", "b": "torch.int32"}[kind] for _, kind in found)
        left = f"_split({part}, {_axes(stage.inner)}, {_operands(first, stage, out)}, ({left},){self.rest(first, stage)})"
        final = f"_whole({whole}, left, {_operands(second, stage, out)}{self.rest(second, stage)})"
        return f"if {product([a.size for a in stage.inner])} <= ONCE:\n        {call}\n    else:\n        left = {left}\n        {final}"

    def row_kernel(self, stem: str, kernel: Kernel, stage: Stage, before: list[str] | None = None, meta: list[str] | None = None) -> str:
        o, i = max(len(stage.outer), OUTER_DIMS), max(len(stage.inner), INNER_DIMS)
        bounds = ["n_rows", *_sizes("o", o), "n_cols", *_sizes("i", i)]
        signature = _parameters(kernel, bounds, {"o": o, "i": i}, ["FLAT_O", "FLAT_I", "R", "B", *(meta or [])])
        return self.module.kernel(stem, kernel, [*(before or []), *signature])

    def matmul(self, stage: Stage, made: dict[Node, str], out: str) -> str:
        self.module.helpers.add("matmul")
        kernel, node = matmul(stage, made.__getitem__, "RESULT")
        left, right = node.args
        rank = len(node.shape)
        operand = self.tensors_dtype()
        lefts = self.strided(left, operand, [rank - 3, rank - 2, rank - 1])
        rights = self.strided(right, operand, [rank - 3, rank - 2, rank - 1])
        order = {"RESULT": 0}
        kernel.loads.sort(key=lambda x: order.get(x.tensor, 1))
        head = ["left", "right", *(x.name for x in kernel.loads), "M", "N", "K"]
        strides = ["left_b", "left_m", "left_k", "right_b", "right_k", "right_n"]
        for x in kernel.loads:
            strides += [f"{x.name}_{g}{k}" for g in "bmn" for k in range(len(x.dims[g]))] + [f"{x.name}_g{k}" for k in range(len(x.looked))]
        meta = ["ACC", "DOT", "SUM", "WIDE", "PRECISION", "BM", "BN", "BK", "GROUP"]
        signature = [*head, *strides, *kernel.sizes, *(f"{n}: tl.constexpr" for n in (*kernel.scalars, *meta))]
        name = self.module.kernel("matmul", kernel, signature)
        shape = root_shape(stage.root, 3)
        size = f"({shape[0]}, {shape[1]}, {shape[2]}, {left.shape[-1]})"
        operands = ", ".join(f"({_tensor(x, out)}, {x.dims['b']!r}, {x.dims['m']!r}, {x.dims['n']!r}, {x.looked!r})" for x in kernel.loads)
        precision = "tf32" if self.task.contract.tf32 else "ieee"
        rest = self.rest(kernel, stage) + f', PRECISION="{precision}"'
        return f'_matmul({name}, {size}, {lefts}, {rights}, ({operands},), "{node.kind}", acc{rest})'

    def strided(self, node: Node, dtype: str, dims: list[int]) -> str:
        """A product's operand: its tensor, and the tensor's dim along batch and the two dims of the product."""
        source, places = (node.args[0], node.dims) if node.op == "view" else (node, tuple(range(len(node.shape))))
        text = (
            self.tensor(source, dtype)
            if source.op not in ("point", "reduce", "matmul", "take", "iota", "const")
            else self.tensor(source, dtype)
        )
        found = tuple(places.index(d) if d >= 0 and d in places else None for d in dims)
        return f"({text}, {found!r})"

    def tensors_dtype(self) -> str:
        floating = [n for n, t in tensors(self.traced.arguments).items() if t.dtype.is_floating_point]
        return f"{floating[0]}.dtype" if floating else ""

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


def root_shape(root: Node, rank: int) -> tuple[Size, ...]:
    return (1,) * (rank - len(root.shape)) + root.shape


def _tensor(load: Load, out: str) -> str:
    return out if load.tensor == "RESULT" else load.tensor


def _sizes(group: str, count: int) -> list[str]:
    return [f"{group}n{k}" for k in range(1, count)]


def _parameters(kernel: Kernel, bounds: list[str], counts: dict[str, int], meta: list[str]) -> list[str]:
    strides = []
    for x in kernel.loads:
        strides += [f"{x.name}_{g}{k}" for g, count in counts.items() for k in range(count)] + [
            f"{x.name}_g{k}" for k in range(len(x.looked))
        ]
    return [
        *(x.name for x in kernel.loads),
        *bounds,
        *strides,
        *kernel.sizes,
        *(f"{n}: tl.constexpr" for n in (*kernel.scalars, "ACC", *meta)),
    ]


def _operands(kernel: Kernel, stage: Stage, out: str) -> str:
    found = (f"({_tensor(x, out)}, {_dims(x, 'o', stage.outer)}, {_dims(x, 'i', stage.inner)}, {x.looked!r})" for x in kernel.loads)
    return "(" + "".join(f"{text}, " for text in found) + ")"


def _dims(load: Load, group: str, axes: list[Axis]) -> str:
    """The tensor's dims along the axes that a stage has, without those that the kernel is padded with."""
    return repr(load.dims[group][len(load.dims[group]) - len(axes) :])


def _shape(shape: tuple[Size, ...]) -> str:
    return "(" + "".join(f"{n}, " for n in shape).rstrip(" ") + ")" if len(shape) == 1 else "(" + ", ".join(str(n) for n in shape) + ")"


def _axes(axes: list[Axis]) -> str:
    return _shape(tuple(a.size for a in axes))
