"""Texts in packs: whole, each piece once, and small."""

import base64
import gzip
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from experiments.report import source, texts
from experiments.report.texts import PACK, Ref, Shelf

KERNEL = '"""softmax."""\n\nimport triton\n\n\n@triton.jit\ndef rows(x):\n    return x\n\n\ndef softmax(x):\n    return rows(x)\n'


def unpacked(shelf: Shelf, ref: Ref) -> str:
    """As a browser reads it: from the packs and their first numbers alone."""
    packs = [json.loads(gzip.decompress(base64.b64decode(pack))) for pack in shelf.packs]
    places = {start + i: part for start, pack in zip(shelf.starts, packs, strict=True) for i, part in enumerate(pack)}
    return "".join(places[number] for number in ref)


@given(st.lists(st.text(alphabet=st.one_of(st.sampled_from("`# \nd@ef<"), st.characters())), max_size=8))
def test_every_text_comes_back_as_it_was_put(texts: list[str]) -> None:
    shelf = Shelf()
    refs = [shelf.text(text) for text in texts]
    shelf.close()
    assert [unpacked(shelf, ref) for ref in refs] == texts


def test_texts_come_back_from_several_packs() -> None:
    shelf = Shelf()
    texts = [str(number) * 1000 for number in range(PACK // 1000)]
    refs = [shelf.text(text) for text in texts]
    shelf.close()
    assert len(shelf.packs) > 2
    assert [unpacked(shelf, ref) for ref in refs] == texts


def test_a_kernel_in_a_reply_is_kept_once() -> None:
    shelf = Shelf()
    shelf.code(KERNEL)
    before = len(shelf.known)
    shelf.text(f"Strategy: two passes.\n\n```python\n{KERNEL}```\n")
    assert len(shelf.known) - before == 3  # The words, the first lines behind the fence, and the closing fence.


def test_the_pieces_of_a_source_have_each_their_colours() -> None:
    pieces, colours = Shelf().code(KERNEL)
    assert len(pieces) == len(colours) > 1


def test_beyond_its_measure_of_colouring_a_source_stays_plain_and_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(texts, "COLOURED", 10)
    shelf = texts.Shelf()
    shelf.code("x = 1\n")
    (_, colours) = shelf.code("def rows(x):\n    return x\n")
    assert shelf.plain == 26
    assert json.loads(shelf.loose[colours[0]]) == f"{source.base36(26)}X"
