"""The page as it is written."""

import base64
import gzip
import hashlib
import json
import re
import sys
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest

from experiments.report import page
from experiments.report.__main__ import main
from experiments.runs import Run
from tests.experiments.report import stores


class Read(HTMLParser):
    """Elements with their attributes, and what each script holds."""

    def __init__(self, text: str):
        super().__init__()
        self.elements: list[tuple[str, dict[str, str | None]]] = []
        self.scripts: list[tuple[dict[str, str | None], str]] = []
        self.words: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.elements.append((tag, dict(attrs)))
        if tag == "script":
            self.scripts.append((dict(attrs), ""))

    def handle_data(self, data: str) -> None:
        if self.lasttag == "script" and self.cdata_elem == "script":
            self.scripts[-1] = self.scripts[-1][0], self.scripts[-1][1] + data
        else:
            self.words.append(data)

    def script(self, name: str) -> str:
        return next(body for attributes, body in self.scripts if attributes.get("id") == name)


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Run:
    return stores.hostile(tmp_path_factory.mktemp("runs") / "hostile")


@pytest.fixture(scope="module")
def read(run: Run) -> Read:
    page.write([run], run.path / "report.html")
    return Read((run.path / "report.html").read_text())


def trajectory(read: Read, anchor: str) -> dict[str, Any]:
    """As the script finds it."""
    index = json.loads(read.script("index"))
    number = index["records"][anchor]
    pack = max(i for i, start in enumerate(index["starts"]) if start <= number)
    body = json.loads(gzip.decompress(base64.b64decode(read.script(f"pack-{pack}"))))
    return dict(json.loads(body[number - index["starts"][pack]]))


def test_nothing_that_a_model_wrote_becomes_an_element(run: Run, read: Read) -> None:
    assert "img" not in {tag for tag, _ in read.elements}
    assert stores.MARK not in (run.path / "report.html").read_text()
    assert any(stores.MARK in words for words in read.words)  # It is there, as text: the device's name.
    assert not any(name.startswith("on") for _, attributes in read.elements for name in attributes)


def test_the_policy_names_the_scripts_that_run_and_no_others(read: Read) -> None:
    policy = next(str(a["content"]) for tag, a in read.elements if a.get("http-equiv") == "Content-Security-Policy")
    running = [body for attributes, body in read.scripts if "type" not in attributes]
    digests = [base64.b64encode(hashlib.sha256(body.encode()).digest()).decode() for body in running]
    assert re.findall(r"'sha256-([^']+)'", policy) == digests
    assert policy.startswith("default-src 'none'; script-src 'sha256-")
    assert "unsafe-eval" not in policy


def test_the_page_loads_nothing(read: Read) -> None:
    named = [value for _, attributes in read.elements for key, value in attributes.items() if key in ("src", "href", "action")]
    assert named
    assert all(str(value).startswith("#") for value in named)


def test_every_anchor_leads_somewhere(read: Read) -> None:
    names = {attributes.get("id") for _, attributes in read.elements}
    records = json.loads(read.script("index"))["records"]
    targets = {str(attributes["href"])[1:] for tag, attributes in read.elements if tag == "a"}
    assert targets - names <= set(records)
    assert set(records) <= targets


def test_names_of_elements_are_unique(read: Read) -> None:
    names = [attributes["id"] for _, attributes in read.elements if "id" in attributes]
    assert len(names) == len(set(names))


def test_what_was_asked_and_never_begun_is_in_the_table(read: Read) -> None:
    results = {a["data-task"]: a["data-result"] for tag, a in read.elements if tag == "tr" and "data-task" in a}
    assert results == {"quick/add": "pass", "quick/gelu": "broken", "quick/sum": "open"}


def test_a_trajectory_is_found_under_its_anchor(read: Read) -> None:
    record = trajectory(read, "trajectory/hostile/quick%2Fadd%400")
    assert record["asked"]["champion"] == "001.00.00"
    assert [a["verdict"] for a in record["attempts"]] == ["wrong_numeric", "pass"]


def test_several_runs_stand_in_one_page(run: Run, tmp_path: Path) -> None:
    other = stores.hostile(tmp_path / "other")
    page.write([run, other], tmp_path / "report.html")
    records = json.loads(Read((tmp_path / "report.html").read_text()).script("index"))["records"]
    assert {anchor.split("/")[1] for anchor in records} == {"hostile", "other"}


def test_the_command_writes_the_page_into_the_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    stores.hostile(tmp_path / "r")
    monkeypatch.setattr(sys, "argv", ["report", f"run={tmp_path / 'r'}"])
    assert main() == 0
    assert str(tmp_path / "r" / "report.html") in capsys.readouterr().out
    assert (tmp_path / "r" / "report.html").read_text().startswith("<!DOCTYPE html>")


def test_a_place_that_cannot_hold_the_page_is_one_sentence(
    run: Run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(sys, "argv", ["report", f"run={run.path}", f"out={tmp_path / 'none' / 'page.html'}"])
    assert main() == 2
    assert "must name a file in a folder that exists" in capsys.readouterr().err
