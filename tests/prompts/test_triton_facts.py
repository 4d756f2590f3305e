"""What prompts say of Triton, tried on the installed one, for whichever version that is."""

import importlib.util
import re
import textwrap
from collections.abc import Callable
from functools import reduce
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest
import triton
import triton.language as tl
from triton.compiler import ASTSource, CompilationError
from triton.language.extra import libdevice
from triton.runtime.jit import mangle_type

import prompts
from prompts import facts
from prompts.facts import FACTS, INVENTED, NAMES, NOWHERE, Fact, Invented, Snippet
from tools import platforms

HERE = facts.of(FACTS, triton.__version__)
WORKS = [(fact, snippet) for fact in HERE for snippet in fact.works]
FAILS = [(fact, snippet) for fact in HERE for snippet in fact.fails]
LOAD = "i = tl.arange(0, 16)\nv = tl.load(x + i)\n"
TIMES = "@triton.jit\ndef times(a, b):\n    return a * b"

Build = Callable[[Snippet], str]


def module(path: Path, text: str) -> ModuleType:
    head = "import triton\nimport triton.language as tl\nfrom triton.language.extra import libdevice\n"
    path.write_text(head + text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec
    assert spec.loader
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    return made


@pytest.fixture
def build(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Build:
    """Compiles a snippet to Triton's IR, and the device's code with it."""
    monkeypatch.setenv("TRITON_CACHE_DIR", str(tmp_path / "cache"))

    def made(snippet: Snippet) -> str:
        names = ("x", "y")[: len(snippet.types)]
        body = textwrap.indent(LOAD + snippet.body, "    ")
        kernel = module(tmp_path / "snippet.py", f"{snippet.head}\n\n@triton.jit\ndef kernel({', '.join(names)}):\n{body}\n").kernel
        source = ASTSource(kernel, dict(zip(names, snippet.types, strict=True)), {})
        target = platforms.gpu_target(platforms.default_targets()[0])
        return str(triton.compile(source, target=target, options={"num_warps": snippet.warps}).asm["ttir"])

    return made


def label(value: Any) -> str | None:
    return value.says[:32] if isinstance(value, Fact) else value.names[0] if isinstance(value, Invented) else None


@pytest.mark.parametrize(("fact", "snippet"), WORKS, ids=label)
def test_what_prompts_say_of_triton_is_so(fact: Fact, snippet: Snippet, build: Build) -> None:
    assert re.search(snippet.emits, build(snippet))


@pytest.mark.parametrize(("fact", "snippet"), FAILS, ids=label)
def test_what_prompts_warn_of_does_not_compile(fact: Fact, snippet: Snippet, build: Build) -> None:
    with pytest.raises((CompilationError, RuntimeError, AssertionError)):  # of the front end, of its driver, of the options
        build(snippet)


@pytest.mark.parametrize("fact", [fact for fact in HERE if fact.raises], ids=label)
def test_what_prompts_warn_of_on_the_host_is_refused(fact: Fact, tmp_path: Path) -> None:
    with pytest.raises((TypeError, ValueError), match="auto-tuned"):
        module(tmp_path / "host.py", fact.raises)


def test_numbers_arrive_as_prompts_say() -> None:
    assert [mangle_type(value) for value in (0.5, 7, 2**31)] == ["fp32", "i32", "i64"]
    assert mangle_type(1, True) == "constexpr"


def test_names_said_to_be_in_triton_are_there() -> None:
    assert [name for entry in facts.of(NAMES, triton.__version__) for name in entry.names if not hasattr(tl, name)] == []


@pytest.mark.parametrize("entry", facts.of(INVENTED, triton.__version__), ids=label)
def test_what_models_invent_is_not_there_and_what_stands_for_it_compiles(entry: Invented, build: Build) -> None:
    for name in entry.names:
        with pytest.raises(AttributeError):
            reduce(getattr, name.split(".")[1:], tl)
    body = "N: tl.constexpr = 16\nn = 16\ny = v\nr = expression(v, y, n, N)\ntl.store(x + (r != r).to(tl.int32), r.to(tl.float32))"
    head = f"{TIMES}\n\n@triton.jit\ndef expression(x, y, n, N: tl.constexpr):\n    return {entry.instead}"
    build(Snippet(body, head=head))


def test_names_without_a_counterpart_are_not_there() -> None:
    assert [name for name in NOWHERE if hasattr(tl, name)] == []


def test_functions_said_to_be_in_libdevice_are_there() -> None:
    said = re.search(r"for fp32 and fp64 \((.*), \.\.\.\)", prompts.render("shared/triton"))
    assert said
    assert [name for name in said[1].split(", ") if not hasattr(libdevice, name)] == []


def test_every_fact_is_shown_by_code() -> None:
    assert [fact.says for fact in FACTS if not (fact.works or fact.fails or fact.raises)] == []


@pytest.mark.parametrize(("version", "said"), [("3.6.0", False), ("3.8.0+git1", False), ("3.9.0", True), ("3.12.1", True)])
def test_a_prompt_holds_the_facts_of_its_version(version: str, said: bool) -> None:
    told = facts.told(version)
    assert any("are gone" in fact for fact in told["facts"]) == said
    assert any("go with the next" in fact for fact in told["facts"]) != said
    assert ("atomic_load" in told["names"]) == said


def test_the_prompt_tells_the_installed_version_and_its_facts() -> None:
    text = prompts.render("shared/triton")
    assert text.startswith(f"## Triton {triton.__version__}:")
    for fact in HERE:
        assert f"- {fact.says}\n" in text
