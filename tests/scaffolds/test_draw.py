"""Pictures of graphs, and that those in the documentation are current."""

from pathlib import Path

import pytest

from scaffolds import draw, loader

DOCUMENT = Path(__file__).parents[2] / "docs/scaffolds.md"


def test_the_pictures_in_the_documentation_are_current() -> None:
    text = DOCUMENT.read_text(encoding="utf-8")
    assert draw.renewed(text) == text, "renew them: python -m scaffolds.draw --write docs/scaffolds.md"


def test_every_scaffold_of_ours_has_a_picture() -> None:
    shown = [found[1] for found in draw.PICTURE.findall(DOCUMENT.read_text(encoding="utf-8"))]
    assert sorted(shown) == sorted(path.stem for path in loader.built_in())


def test_a_picture_has_the_graphs_edges_and_tells_choices_from_steps(capsys: pytest.CaptureFixture[str]) -> None:
    assert draw.main(["oneshot"]) == 0
    lines = [line.strip() for line in capsys.readouterr().out.splitlines()]
    assert lines[0] == "flowchart TD"
    assert {"start -.-> generate", "generate --> select"} <= set(lines)


def test_what_is_not_there_is_one_sentence(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert draw.main(["geek"]) == 2
    assert draw.main(["--write", str(tmp_path / "none.md")]) == 2
    said = capsys.readouterr().err.splitlines()
    assert len(said) == 2
    assert "Did you mean 'geak'?" in said[0]


def test_a_document_keeps_all_else(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("before\n<!-- graph: oneshot -->\nold\n<!-- end of graph -->\nafter\n")
    assert draw.main(["--write", str(page)]) == 0
    text = page.read_text()
    assert text.startswith("before\n<!-- graph: oneshot -->\n```mermaid\nflowchart TD\n")
    assert text.endswith("```\n<!-- end of graph -->\nafter\n")
    assert "old" not in text
