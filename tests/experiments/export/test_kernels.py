"""The package of champions: what it holds, who answers a call, and that nothing but torch and triton is needed to use it."""

import ast
import json
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from benchmark.errors import UserError
from experiments.export import kernels
from experiments.export.runtime import Op
from tests.experiments.export import packages
from tests.experiments.export.packages import GELU

ROOT = Path(__file__).parents[3]
ADDMM = (ROOT / "benchmark" / "kernels" / "kernelbench_x" / "addmm.py").read_text(encoding="utf-8")
DOUBLE = "def add(input, other, alpha=1, out=None):\n    return (input + alpha * other).t().contiguous().t() * 2\n"
STEP = "def kernel_function(param, grad, exp_avg, *rest, **named):\n    exp_avg.fill_(7)\n    return param.fill_(3), exp_avg\n"


def table(out: Path, name: str = "champions") -> dict[str, Any]:
    return {row["name"]: row for row in json.loads((out / name / "kernels.json").read_text())}


def on_host(package: Any, name: str) -> Op:
    """The package's operator, as if its kernel had been tried on the host."""
    op: Op = package.OPS[name]
    op.domain.row = {**op.domain.row, "device": "cpu"}
    return op


def test_the_source_is_the_champion_s_to_the_byte(tmp_path: Path) -> None:
    source = GELU + "# \udce9 \u00e9\r\n"
    kernels.write([packages.run(tmp_path / "r", {"quick/gelu": source})], tmp_path / "out")
    assert (tmp_path / "out/champions/kernels/gelu.py").read_bytes() == source.encode("utf-8", "surrogatepass")


def test_measured_speedups_stand_with_interval_device_and_inputs_of_each_size(tmp_path: Path) -> None:
    kernels.write([packages.run(tmp_path / "r", {"quick/gelu": GELU}, speedup=2.0)], tmp_path / "out")
    row = table(tmp_path / "out")["gelu"]
    assert (row["mode"], row["measured"]["speedup"], row["measured"]["ci"]) == ("device", 2.0, [2.0, 2.0])
    assert row["measured"]["sizes"][0]["inputs"] == "input float32[4096]"
    readme = (tmp_path / "out/README.md").read_text()
    assert "| `gelu` | quick/gelu | 2.00x (2.00 to 2.00) | d | eager | 4 |" in readme
    assert "| input float32[4096] | 20.00 | 10.00 | 2.00 (2.00 to 2.00) |" in readme


def test_a_champion_that_is_slower_than_torch_is_said_to_be(tmp_path: Path) -> None:
    kernels.write([packages.run(tmp_path / "r", {"quick/gelu": GELU}, speedup=0.9)], tmp_path / "out")
    assert "**Slower than torch**, as measured: gelu." in (tmp_path / "out/README.md").read_text()


def test_a_simulated_run_has_no_speedup_and_says_so(tmp_path: Path) -> None:
    said = kernels.write([packages.run(tmp_path / "r", {"quick/gelu": GELU})], tmp_path / "out")
    row = table(tmp_path / "out")["gelu"]
    assert (row["measured"], row["not_measured"]) == (None, "simulated device")
    assert "1 of them without a measured speedup" in said[0]
    assert "**Nothing was measured** for gelu" in (tmp_path / "out/README.md").read_text()


def test_the_faster_of_two_runs_champions_is_taken(tmp_path: Path) -> None:
    slow = packages.run(tmp_path / "slow", {"quick/gelu": GELU}, speedup=1.5)
    fast = packages.run(tmp_path / "fast", {"quick/gelu": GELU + "# faster\n"}, speedup=2.0)
    kernels.write([slow, fast], tmp_path / "out")
    assert table(tmp_path / "out")["gelu"]["run"] == "fast"


def test_equal_names_of_two_suites_stand_apart(tmp_path: Path) -> None:
    run = packages.run(tmp_path / "r", {"quick/gelu": GELU, "kernelbench_x/gelu": GELU})
    kernels.write([run], tmp_path / "out", "apart")
    assert list(table(tmp_path / "out", "apart")) == ["quick_gelu", "kernelbench_x_gelu"]
    package = packages.imported(tmp_path / "out", "apart")
    assert torch.equal(package.quick_gelu(torch.ones(3)), package.kernelbench_x_gelu(torch.ones(3)))


def test_a_task_that_cannot_be_exported_is_left_out_and_said(tmp_path: Path) -> None:
    run = packages.run(tmp_path / "r", {"quick/gelu": GELU, "kernelbench_x/rand": "x = 1\n"})
    said = kernels.write([run], tmp_path / "out")
    assert said[1] == "left out: kernelbench_x/rand, it takes any number of arguments"
    assert list(table(tmp_path / "out")) == ["gelu"]


OWN = '''
import torch
from torch import Tensor

def doubled(x, scale=2.0, bias=None) -> Tensor:
    """x * scale + bias."""
    return x * scale if bias is None else x * scale + bias

def inputs():
    return [{"x": torch.randn(3, 5)}, {"x": torch.randn(4, 6), "scale": 3, "bias": torch.randn(6)}]
'''


def test_a_task_that_has_changed_since_it_was_judged_is_said(tmp_path: Path) -> None:
    run = packages.run(tmp_path / "r", {"quick/gelu": GELU})
    records = run.path / "evaluations.jsonl"
    records.write_text(re.sub(r'"task_sha": "\w+"', '"task_sha": "0123"', records.read_text()))
    said = kernels.write([run], tmp_path / "out")
    assert said[1].startswith("changed since: quick/gelu was judged as 0123 and is ")


@pytest.mark.slow
def test_a_function_of_the_user_s_is_exported_with_its_file(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(OWN)
    run = packages.run(tmp_path / "r", {f"{tmp_path}/ops.py:doubled": "def doubled(x, scale=2.0, bias=None):\n    return x\n"})
    kernels.write([run], tmp_path / "out", "owned")
    row = table(tmp_path / "out", "owned")["doubled"]
    assert row["schema"] == "(Tensor x, Scalar scale=2.0, Tensor? bias=None) -> Tensor"
    assert (tmp_path / "out/tests/tasks" / row["own"]["path"]).read_text() == OWN
    package = packages.imported(tmp_path / "out", "owned")
    assert torch.ops.owned.doubled(torch.ones(2, 2), 3).unique().tolist() == [3.0]
    assert package.doubled(torch.ones(2, 2), bias=torch.ones(2)).unique().tolist() == [3.0]


@pytest.mark.slow
def test_a_file_that_has_changed_since_is_left_out(tmp_path: Path) -> None:
    (tmp_path / "ops.py").write_text(OWN)
    run = packages.run(tmp_path / "r", {f"{tmp_path}/ops.py:doubled": "x = 1\n", "quick/gelu": GELU})
    (tmp_path / "ops.py").write_text(OWN.replace("2.0", "4.0"))
    said = kernels.write([run], tmp_path / "out", "changed")
    assert said[1] == f"left out: {tmp_path}/ops.py:doubled, its file is another now than the one that was judged"


@pytest.mark.parametrize("name", ["torch", "json", "class", "a-b", "Champions", "experiments"])
def test_a_name_that_would_hide_a_package_is_refused(tmp_path: Path, name: str) -> None:
    with pytest.raises(UserError, match="cannot be the name"):
        kernels.write([packages.run(tmp_path / "r", {"quick/gelu": GELU})], tmp_path / "out", name)


def test_runs_without_a_champion_are_refused(tmp_path: Path) -> None:
    with pytest.raises(UserError, match="no kernel to export"):
        kernels.write([packages.run(tmp_path / "r", {})], tmp_path / "out")


def test_the_package_imports_torch_and_triton_alone(tmp_path: Path) -> None:
    kernels.write([packages.run(tmp_path / "r", {"quick/gelu": GELU})], tmp_path / "out", "alone")
    nodes = [node for path in (tmp_path / "out/alone").rglob("*.py") for node in ast.walk(ast.parse(path.read_bytes()))]
    names = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    names |= {str(node.module) for node in nodes if isinstance(node, ast.ImportFrom)}
    assert {name.partition(".")[0] for name in names} - set(sys.stdlib_module_names) == {"torch", "triton", "alone"}


def test_inside_the_domain_the_kernel_answers_and_outside_the_reference(tmp_path: Path) -> None:
    kernels.write([packages.run(tmp_path / "r", {"quick/add": DOUBLE})], tmp_path / "out", "dispatched")
    package = packages.imported(tmp_path / "out", "dispatched")
    one = torch.ones(3, 4)
    assert package.add(one, one).unique().tolist() == [2.0]
    assert (
        package.explain("add", one, one) == "tensors on cpu, tried on " + table(tmp_path / "out", "dispatched")["add"]["domain"]["device"]
    )
    on_host(package, "add")
    assert package.add(one, one).unique().tolist() == [4.0]
    assert package.add(one, 1.5, alpha=2).unique().tolist() == [4.0]  # A number goes by the function alone; of this rank none was tried.
    assert torch.ops.dispatched.add(one, one).is_contiguous()
    leaf = torch.ones(3, 4, requires_grad=True)
    package.add(leaf, one).sum().backward()
    assert leaf.grad is not None
    assert package.explain("add", leaf, one).startswith("a gradient")
    with pytest.raises(RuntimeError, match="no autograd formula was registered"):
        torch.ops.dispatched.add(leaf, one).sum().backward()


def test_what_a_kernel_writes_is_written_by_function_and_operator(tmp_path: Path) -> None:
    kernels.write([packages.run(tmp_path / "r", {"kernelbench_x/Lion": STEP})], tmp_path / "out", "writing")
    package = packages.imported(tmp_path / "out", "writing")
    on_host(package, "Lion")
    param, grad, average = (torch.ones(4) for _ in range(3))
    returned = package.Lion(param, grad, average)
    assert (param.tolist(), average.tolist(), returned[0] is param) == ([3.0] * 4, [7.0] * 4, True)
    param, average = torch.ones(4), torch.ones(4)
    copies = torch.ops.writing.Lion(param, grad, average)
    assert (param.tolist(), average.tolist(), copies[0].data_ptr() == param.data_ptr()) == ([3.0] * 4, [7.0] * 4, False)
    schema = table(tmp_path / "out", "writing")["Lion"]["schema"]
    assert schema.startswith("(Tensor(a0!) param, Tensor grad, Tensor(a2!) exp_avg")


def test_the_command_writes_it(tmp_path: Path) -> None:
    packages.run(tmp_path / "r", {"quick/gelu": GELU})
    words = [f"run={tmp_path / 'r'}", "format=kernels", f"out={tmp_path / 'out'}", "name=mine"]
    done = subprocess.run([sys.executable, "-m", "experiments.export", *words], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout.splitlines()[0] == f"{tmp_path / 'out'}: package mine of 1 kernels, 1 of them without a measured speedup"
    assert (tmp_path / "out/mine/__init__.py").is_file()


@pytest.mark.slow
def test_an_installed_package_passes_its_own_tests(tmp_path: Path) -> None:
    kernels.write([packages.run(tmp_path / "r", {"quick/gelu": GELU, "kernelbench_x/addmm": ADDMM})], tmp_path / "out")
    site = tmp_path / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--target", str(site), str(tmp_path / "out")]
    subprocess.run(install, check=True)
    environment = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "PYTHONPATH": f"{site}:{ROOT}"}
    words = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", str(tmp_path / "out/tests")]
    done = subprocess.run(words, cwd=tmp_path, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stdout
    assert "passed" in done.stdout
