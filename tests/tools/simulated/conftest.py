import importlib.util
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType

import pytest
import torch

os.environ.setdefault("TRITON_DEFAULT_FP_FUSION", "1")

from tools import platforms
from tools.simulated import Session


@pytest.fixture(scope="session", autouse=True)
def triton_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    former = os.environ.get("TRITON_CACHE_DIR")
    os.environ["TRITON_CACHE_DIR"] = str(tmp_path_factory.mktemp("triton"))
    torch.set_num_threads(1)
    yield
    if former is None:
        del os.environ["TRITON_CACHE_DIR"]
    else:
        os.environ["TRITON_CACHE_DIR"] = former


@pytest.fixture
def session() -> Iterator[Session]:
    with Session(platforms.default_targets(), platforms.sheet("h100"), seed=0) as session:
        yield session


@pytest.fixture
def load(tmp_path: Path) -> Callable[[str], ModuleType]:
    """Imports source text as a candidate module."""

    def load(source: str) -> ModuleType:
        path = tmp_path / f"candidate{len(list(tmp_path.iterdir()))}.py"
        path.write_text(source)
        spec = importlib.util.spec_from_file_location(path.stem, path)
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module

    return load
