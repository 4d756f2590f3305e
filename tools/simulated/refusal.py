"""A compiler's error cut to what its author can use: line, rule, type."""

import re
import traceback

import triton.runtime.jit as jit_runtime
from triton.compiler.errors import CompilationError
from triton.runtime.jit import JITFunction

from tools.simulated import language
from tools.simulated.errors import CompileFailed, LaunchFailed

_MOST_RULE = 1500
"""Characters of a compiler's message that are kept."""
_WRAPPED = re.compile(r"(\w+)\((['\"])(.*)\2,?\)", re.DOTALL)
"""An exception of Python's, as the compiler quotes it."""
_ADDRESS = re.compile(r"(?: object)? at 0x[0-9a-f]+")


def refused(jit: JITFunction, target: str, error: Exception) -> CompileFailed | LaunchFailed:
    """What fails before the compiler is asked is a failed launch."""
    if not any(frame.name == "_do_compile" for frame in traceback.extract_tb(error.__traceback__)):
        message = str(error).replace("dynamic_func()", f"{jit.__name__}()")
        return LaunchFailed(message, kernel=jit.__name__, type=type(error).__name__)
    # The innermost function's error names the line; those around it are its callers'.
    while isinstance(cause := error.__cause__, CompilationError):
        error = cause
    rule, name = _rule(error)
    line, text = _place(jit, *_source(error))
    where = f" at line {line}" if line else ""
    message = f"{jit.__name__} does not compile for {target}{where}: {rule.splitlines()[0] if rule else name}"
    return CompileFailed(message, target=target, kernel=jit.__name__, line=line, source=text, rule=rule, type=name)


def _rule(error: Exception) -> tuple[str, str]:
    """The message, and the kind of error."""
    text = str(getattr(error, "error_message", None) or error.__cause__ or error).partition("Repro command:")[0].strip()
    quoted = _WRAPPED.fullmatch(text)
    name, text = (quoted[1], quoted[3]) if quoted else (type(error.__cause__ or error).__name__, text)
    return _ADDRESS.sub("", text)[:_MOST_RULE], name.removesuffix("Impl")


def _source(error: Exception) -> tuple[str, int | None]:
    """The source of the function that was refused, and a line of it. What walks a kernel before it is compiled keeps them in frames."""
    if isinstance(error, CompilationError):
        return error.src or "", getattr(error.node, "lineno", None)
    source, line = "", None
    for frame, _ in traceback.walk_tb(error.__traceback__):
        walker, node = frame.f_locals.get("self"), frame.f_locals.get("node")
        if isinstance(walker, JITFunction):
            source, line = walker.src, None
        line = getattr(node, "lineno", line)
    return source, line


def _place(jit: JITFunction, source: str, line: int | None) -> tuple[int | None, str]:
    """The line in the candidate's file and its text, for a line of the source of a kernel or of a function that it calls."""
    if line is None or not source:
        return None, ""
    text = source.splitlines()[line - 1].strip()
    known = [jit, *(f for f in vars(jit_runtime).get("_triton_jit_function_registry", {}).values() if f.src == source)]
    owner = next((f for f in known if f.src == source), None)
    if owner is None:
        return None, text
    return language.first_line(owner) + line - 1, text
