"""Triton's language under the interpreter: patched once per process, switched on for a launch, kernels rewritten once."""

import ast
import builtins
import inspect
import operator
from collections.abc import Callable
from functools import cache, partial
from types import FunctionType
from typing import Any

import triton.language as tl
import triton.runtime.interpreter as interpreter
from triton.runtime.jit import JITFunction

from tools.simulated import libdevice, reduce
from tools.simulated.builder import semantic

core = tl.core


def _probe() -> Any:
    """Stands for a kernel: `_patch_lang` looks for `tl` and `core` among its globals."""
    return tl, core


class _Language:
    """Every attribute that differs between compiling and interpreting."""

    def __init__(self) -> None:
        scope = interpreter._patch_lang(_probe)
        changes: dict[tuple[int, str], tuple[Any, str, Any]] = {}
        for owner, name, former in scope._changes:
            changes.setdefault((id(owner), name), (owner, name, former))
        self.entries = [(owner, name, former, owner.__dict__[name]) for owner, name, former in changes.values()]
        scope.restore()
        self.entries = [(owner, name, former, _faster(owner, former, new)) for owner, name, former, new in self.entries]
        self.entries += libdevice.entries(semantic) + _reductions() + _methods() + _cheaper() + _constants()
        self.replaced = {id(former): new for owner, _, former, new in self.entries if not inspect.isclass(owner)}
        self.active = False

    def __enter__(self) -> None:
        for owner, name, _, new in self.entries:
            setattr(owner, name, new)
        self.active = True

    def __exit__(self, *error: Any) -> None:
        self.active = False
        for owner, name, former, _ in reversed(self.entries):
            if former is interpreter._MISSING:
                delattr(owner, name)
            else:
                setattr(owner, name, former)


def _faster(owner: Any, former: Any, new: Any) -> Any:
    """A builtin with the interpreter's semantic bound, without the wrappers around it."""
    if "member" not in (getattr(new, "__kwdefaults__", None) or {}) or not hasattr(former, "__wrapped__"):
        return new
    bound = partial(former.__wrapped__, _semantic=semantic)
    if not inspect.isclass(owner):
        return bound
    return lambda *args, **kwargs: bound(*args, **kwargs)


def _reductions() -> list[tuple[Any, str, Any, Any]]:
    """Functions and methods; the last entry for an attribute wins."""
    methods = [(tl.tensor, name, vars(tl.tensor)[name], new) for name, new in _REDUCTIONS.items() if name in vars(tl.tensor)]
    return methods + [(module, name, getattr(module, name), new) for module in (tl, core) for name, new in _REDUCTIONS.items()]


def _methods() -> list[tuple[Any, str, Any, Any]]:
    """Methods of tensors that are written in Triton themselves, for example `x.sum(axis=0)`."""

    def bound(jit: JITFunction) -> Callable[..., Any]:
        return lambda self, *args, **kwargs: device_call(jit, self, *args, **kwargs)

    return [(tl.tensor, name, jit, bound(jit)) for name, jit in vars(tl.tensor).items() if isinstance(jit, JITFunction)]


def _constants() -> list[tuple[Any, str, Any, Any]]:
    """Operators of a constant on the left of a tensor: the tensor's, as in compiled code, rather than another constant."""

    def yielding(name: str, method: Callable[..., Any]) -> Callable[..., Any]:
        apply = getattr(operator, name)
        return lambda self, other: apply(self.value, other) if isinstance(other, tl.tensor) else method(self, other)

    return [(tl.constexpr, name, method, yielding(name, method)) for name, method in vars(tl.constexpr).items() if name in _BINARY]


def _cheaper() -> list[tuple[Any, str, Any, Any]]:
    """Half of an interpreted kernel's time goes into shapes that are always the same; these keep them with the type."""
    make_tensor, make_type = tl.tensor.__init__, tl.block_type.with_element_ty
    shapes: dict[str, tuple[Any, Any]] = {}
    types: dict[tuple[str, tuple], tl.block_type] = {}

    def tensor_init(self: tl.tensor, handle: Any, type: tl.dtype) -> None:
        known = shapes.get(type.name)
        if known is None:
            make_tensor(self, handle, type)
            shapes[type.name] = self.shape, self.numel
        else:
            self.handle, self.type, self.dtype = handle, type, type.scalar
            self.shape, self.numel = known

    def with_element_ty(self: tl.block_type, scalar_ty: tl.dtype) -> tl.block_type:
        key = scalar_ty.name, builtins.tuple(self.shape)
        found = types.get(key)
        if found is None:
            found = types[key] = make_type(self, scalar_ty)
        return found

    return [
        (tl.tensor, "__init__", make_tensor, tensor_init),
        (tl.block_type, "with_element_ty", make_type, with_element_ty),
    ]


_BINARY = {
    "__add__", "__sub__", "__mul__", "__truediv__", "__floordiv__", "__mod__", "__and__", "__or__", "__xor__", "__lshift__", "__rshift__",
    "__lt__", "__le__", "__gt__", "__ge__", "__eq__", "__ne__",
}  # fmt: skip
_REDUCTIONS = {"reduce": reduce.reduce, "associative_scan": reduce.scan}


@cache
def language() -> _Language:
    return _Language()


class _Rewriter(interpreter.ASTTransformer):
    """Turns a kernel into Python that means what the compiler makes of it.

    A number that is assigned or counted becomes a tensor, unless annotated; `and`, `or` and `not` work on blocks; assertions, which
    are compiled out without debug, and annotations go.
    """

    def visit_FunctionDef(self, node: ast.FunctionDef) -> ast.FunctionDef:
        for argument in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs):
            argument.annotation = None
        node.decorator_list, node.returns = [], None
        node.body = [self.visit(statement) for statement in node.body]
        return node

    def visit_Assign(self, node: ast.Assign) -> ast.Assign:
        node.value = _called("_kw_assigned", self.visit(node.value))
        return node

    def visit_AugAssign(self, node: ast.AugAssign) -> ast.stmt:
        if not isinstance(node.target, ast.Name):
            return self.generic_visit(node)
        read = ast.copy_location(ast.Name(id=node.target.id, ctx=ast.Load()), node)
        value = ast.copy_location(ast.BinOp(left=read, op=node.op, right=self.visit(node.value)), node)
        return ast.copy_location(ast.Assign(targets=[node.target], value=_called("_kw_assigned", value)), node)

    def visit_AnnAssign(self, node: ast.AnnAssign) -> ast.stmt:
        if node.value is None:
            return ast.copy_location(ast.Pass(), node)
        return ast.copy_location(ast.Assign(targets=[node.target], value=self.visit(node.value)), node)

    def visit_Assert(self, node: ast.Assert) -> ast.stmt:
        return ast.copy_location(ast.Pass(), node)

    def visit_For(self, node: ast.For) -> ast.For:
        node = self.generic_visit(node)
        if isinstance(node.target, ast.Name) and not _is_static(node.iter):
            name = node.target.id
            count = ast.Assign(
                targets=[ast.Name(id=name, ctx=ast.Store())], value=_called("_kw_assigned", ast.Name(id=name, ctx=ast.Load()))
            )
            node.body.insert(0, ast.copy_location(count, node))
        return node

    def visit_BoolOp(self, node: ast.BoolOp) -> ast.expr:
        nothing = ast.arguments(posonlyargs=[], args=[], kwonlyargs=[], kw_defaults=[], defaults=[])
        values = [ast.Lambda(args=nothing, body=self.visit(value)) for value in node.values]
        return ast.copy_location(_called("_kw_and" if isinstance(node.op, ast.And) else "_kw_or", *values), node)

    def visit_UnaryOp(self, node: ast.UnaryOp) -> ast.expr:
        node.operand = self.visit(node.operand)
        return ast.copy_location(_called("_kw_not", node.operand), node) if isinstance(node.op, ast.Not) else node


def _called(name: str, *values: ast.expr) -> ast.Call:
    return ast.Call(func=ast.Name(id=name, ctx=ast.Load()), args=list(values), keywords=[])


def _is_static(iterable: ast.expr) -> bool:
    """Whether a `for` is unrolled by the compiler, so that its variable is a constant."""
    if not isinstance(iterable, ast.Call):
        return True
    name = iterable.func.attr if isinstance(iterable.func, ast.Attribute) else getattr(iterable.func, "id", "")
    return name == "static_range"


def _assigned(value: Any) -> Any:
    if isinstance(value, (bool, int, float, tl.constexpr)):
        return semantic.to_tensor(value, False)
    return tuple(_assigned(part) for part in value) if type(value) is tuple else value


def _join(method: str, stop_at: bool) -> Callable[..., Any]:
    """`and` and `or`: elementwise on tensors, short-circuit on constants."""

    def joined(*values: Callable[[], Any]) -> Any:
        left = values[0]()
        for value in values[1:]:
            if not isinstance(left, tl.tensor):
                if bool(left) == stop_at:
                    return left
                left = value()
            else:
                left = getattr(left, method)(value())
        return left

    return joined


def _not(value: Any) -> Any:
    return value.__not__() if isinstance(value, tl.tensor) else not value


def _extremum(name: str) -> Callable[..., Any]:
    plain = getattr(builtins, name)
    of_tensors = getattr(core, f"builtin_{name}", None)

    def extremum(*args: Any, **kwargs: Any) -> Any:
        if of_tensors is None or not any(isinstance(a, tl.tensor) for a in args):
            return plain(*args, **kwargs)
        return of_tensors(*args, **kwargs, _semantic=semantic)

    return extremum


_HELPERS = {
    "_kw_and": _join("logical_and", False),
    "_kw_or": _join("logical_or", True),
    "_kw_not": _not,
    "_kw_assigned": _assigned,
    "min": _extremum("min"),
    "max": _extremum("max"),
    **{name: value for name, value in vars(interpreter).items() if name.startswith("_Interpreter")},
}


def first_line(jit: JITFunction) -> int:
    """The line of `def` in its file; the decorators stand above it."""
    return jit.starting_line_number + next(i for i, row in enumerate(jit.raw_src) if row.lstrip().startswith("def "))


class _Kernel:
    """A rewritten function and the globals that it sees."""

    def __init__(self, jit: JITFunction) -> None:
        self._fn = jit.fn
        tree = _Rewriter().visit(jit.parse())
        ast.fix_missing_locations(tree)
        ast.increment_lineno(tree, first_line(jit) - 1)
        self._namespace: dict[str, Any] = {}
        self.refresh()
        local: dict[str, Any] = {}
        exec(compile(tree, jit.fn.__code__.co_filename, "exec"), self._namespace, local)
        self.call: FunctionType = local[jit.fn.__name__]

    def refresh(self) -> None:
        """Takes over the module's globals as they are now, with builtins that were imported by name replaced."""
        seen = self._fn.__globals__ | inspect.getclosurevars(self._fn).nonlocals
        replaced = language().replaced
        for name in self._fn.__code__.co_names:
            if id(seen.get(name)) in replaced:
                seen[name] = replaced[id(seen[name])]
        self._namespace.update(_HELPERS | seen)


_kernels: dict[Any, _Kernel] = {}
_seen_in: dict[Any, int] = {}
_launch_number = 0


def begin_launch() -> None:
    """Globals are looked at again in each launch."""
    global _launch_number
    _launch_number += 1


def rewritten(jit: JITFunction) -> FunctionType:
    """The Python of a kernel or device function, rewritten once."""
    kernel = _kernels.get(jit.fn)
    if kernel is None:
        kernel = _kernels[jit.fn] = _Kernel(jit)
        _seen_in[jit.fn] = _launch_number
    elif _seen_in[jit.fn] != _launch_number:
        kernel.refresh()
        _seen_in[jit.fn] = _launch_number
    return kernel.call


def device_call(jit: JITFunction, *args: Any, **kwargs: Any) -> Any:
    """Stands in for `JITFunction.__call__`: a device function called from a kernel."""
    if not language().active:
        raise RuntimeError("Cannot call @triton.jit'd outside of the scope of a kernel")
    kwargs.pop("_semantic", None)
    return rewritten(jit)(*args, **kwargs)
