"""Replies as models really write them, and as hostile ones could."""

import json
import time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from agents import parsing

MODULE = "import triton\n\ndef gelu(x):\n    return x\n"
FENCED = f"Strategy: one pass\n```python\n{MODULE}```\n"


def test_one_block_is_the_candidate() -> None:
    assert parsing.code(FENCED, "gelu") == parsing.Parsed(MODULE, "ok")


@pytest.mark.parametrize("language", ["", "py", "Python", "python3", "triton"])
def test_languages_that_models_write(language: str) -> None:
    assert parsing.code(f"```{language}\n{MODULE}```", "gelu").source == MODULE


def test_no_block_is_no_code() -> None:
    assert parsing.code("def gelu(x): return x", "gelu") == parsing.Parsed(None, "no fenced code block")


def test_empty_reply_and_empty_block_are_no_code() -> None:
    assert parsing.code("", "gelu").source is None
    assert parsing.code("```python\n\n```", "gelu").source is None


def test_of_two_blocks_the_last_that_defines_the_entry_point_wins() -> None:
    text = f"```python\ndef gelu(x): draft\n```\nbetter:\n{FENCED}and a test:\n```python\nassert gelu(1)\n```"
    parsed = parsing.code(text, "gelu")
    assert parsed.source == MODULE
    assert parsed.outcome == "last of 3 blocks that defines the entry point"


def test_kernel_function_is_an_entry_point_too() -> None:
    text = "```python\ndef kernel_function(x): pass\n```\n```python\nprint(1)\n```"
    assert parsing.code(text, "gelu").source == "def kernel_function(x): pass\n"


def test_where_no_block_defines_the_entry_point_the_last_is_judged() -> None:
    parsed = parsing.code("```python\na = 1\n```\n```python\nb = 2\n```", "gelu")
    assert parsed == parsing.Parsed("b = 2\n", "last of 2 blocks, none defines the entry point")


def test_a_longer_name_is_not_the_entry_point() -> None:
    text = "```python\ndef gelu(x): pass\n```\n```python\ndef gelu_test(): pass\n```"
    assert parsing.code(text, "gelu").source == "def gelu(x): pass\n"


def test_unclosed_fence_with_the_entry_point_is_judged() -> None:
    parsed = parsing.code(f"```python\n{MODULE}", "gelu")
    assert parsed.outcome == "unclosed fence"
    assert parsed.source is not None
    assert parsed.source.startswith(MODULE)


def test_unclosed_fence_without_the_entry_point_is_no_code() -> None:
    assert parsing.code("```python\nimport tri", "gelu") == parsing.Parsed(None, "unclosed fence")


def test_a_complete_block_wins_over_an_unclosed_one() -> None:
    assert parsing.code(f"{FENCED}```python\ndef gelu(", "gelu").source == MODULE


def test_code_inside_json_is_never_read() -> None:
    reply = json.dumps({"strategy": "s", "code": f"```python\n{MODULE}```"})
    assert parsing.code(reply, "gelu").source is None
    assert parsing.code(f"```json\n{json.dumps({'code': MODULE}, indent=1)}\n```", "gelu").source is None


def test_shell_and_text_blocks_are_not_candidates() -> None:
    assert parsing.code(f"```bash\npip install triton\n```\n{FENCED}```text\nout\n```", "gelu") == parsing.Parsed(MODULE, "ok")


def test_a_fence_in_a_docstring_does_not_end_the_block() -> None:
    module = 'def gelu(x):\n    """Use:\n    ```\n    gelu(1)\n    ```\n    """\n'
    assert parsing.code(f"```python\n{module}```", "gelu").source == module


def test_a_longer_fence_holds_shorter_ones() -> None:
    module = 'def gelu(x):\n    """\n```\n"""\n'
    assert parsing.code(f"````python\n{module}````", "gelu").source == module


def test_a_block_in_a_list_item_loses_the_indentation_of_its_fence() -> None:
    assert parsing.code("1. this\n   ```python\n   def gelu(x):\n       pass\n   ```", "gelu").source == "def gelu(x):\n    pass\n"


def test_tildes_and_crlf() -> None:
    assert parsing.code("~~~python\r\ndef gelu(x):\r\n    pass\r\n~~~\r\n", "gelu").source == "def gelu(x):\n    pass\n"


def test_two_megabytes_are_read_in_time_and_refused() -> None:
    start = time.perf_counter()
    parsed = parsing.code(f"```python\ndef gelu(x): pass\n{'x = 1  # filler' * 150_000}\n```", "gelu")
    assert parsed.source is None
    assert "longer than" in parsed.outcome
    assert parsing.code("`" * 2_000_000, "gelu").source is None
    assert parsing.code("```python\n" * 200_000, "gelu").source is None
    assert time.perf_counter() - start < 5


def test_code_that_utf8_cannot_hold_is_refused() -> None:
    assert parsing.code("```python\ndef gelu(x): return '\udcff'\n```", "gelu") == parsing.Parsed(None, "code is not valid UTF-8")


@given(st.text(st.characters() | st.sampled_from("`~\n \udcff\x00"), max_size=300))
def test_no_text_raises(text: str) -> None:
    for reply in (text, f"```python\n{text}", f"```\n{text}\n```\n{text}"):
        parsed = parsing.code(reply, "gelu")
        assert (parsed.source is None) <= (parsed.outcome != "ok")
        parsing.strategy(reply).encode()
        parsing.reflection(reply).note.encode()


def test_strategy_is_read_outside_code_and_bounded() -> None:
    assert parsing.strategy("**Strategy:** fuse both passes\n```python\n# Strategy: no\n```") == "fuse both passes"
    assert len(parsing.strategy("Strategy: " + "x" * 10_000)) == parsing.MAX_LINE
    assert parsing.strategy("no label") == ""


def test_reflection_keeps_its_lesson_or_its_first_line() -> None:
    assert parsing.reflection("Cause: a mask\nLesson: mask every load").lesson == "mask every load"
    assert parsing.reflection("\n- the mask is lost\nmore").lesson == "the mask is lost"
    assert parsing.reflection("") == parsing.Reflection("", "")
    assert len(parsing.reflection("y" * 50_000).note) == parsing.MAX_NOTE
