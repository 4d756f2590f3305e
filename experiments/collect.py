"""Hydra's part: it composes one config, or many under `-m`, and nothing else; it leaves no files, and its errors become one sentence."""

import os
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, redirect_stderr, redirect_stdout
from io import StringIO
from typing import Any

import hydra
from hydra.core.config_store import ConfigStore
from hydra.core.hydra_config import HydraConfig
from hydra.errors import HydraException, MissingConfigException, OverrideParseException
from omegaconf import DictConfig, OmegaConf
from omegaconf.errors import OmegaConfBaseException

from benchmark.console import show
from benchmark.errors import UserError, unknown
from experiments.config import Collected
from scaffolds import loader

OPEN = ("model_args", "roles", "task_args", "prices")
"""Groups whose keys are checked by whom they are for."""


def collect() -> list[Collected]:
    """The composed configs of the command line, in order; empty when it only asked to be shown something (`--cfg`, `--info`)."""
    collected: list[Collected] = []

    @hydra.main(version_base="1.3", config_path="pkg://experiments.conf", config_name="config")
    def keep(config: DictConfig) -> None:
        body: Any = OmegaConf.to_container(config, resolve=True)
        choices = HydraConfig.get().runtime.choices
        overrides = list(HydraConfig.get().overrides.task)
        collected.append(Collected(body, {k: v for k, v in choices.items() if not k.startswith("hydra/")}, overrides))

    loader.register()
    ConfigStore.instance().store("open", OmegaConf.create({key: DictConfig({}, flags={"struct": False}) for key in OPEN}))
    # Hydra's parser knows its flags only ahead of all overrides.
    words = sorted(sys.argv[1:], key=lambda word: word not in ("-m", "--multirun"))
    sys.argv[1:] = [f"resume.run={word.removeprefix('resume=')}" if word.startswith("resume=") else word for word in words]
    with quiet(), redirect_stdout(StringIO()) as shown, redirect_stderr(StringIO()) as complaint:
        try:
            keep()
        except SystemExit as left:
            if left.code:  # Hydra's parser has written its usage, and why.
                why = complaint.getvalue().strip().rpartition("error: ")[2]
                raise UserError(f"Cannot read the command line ({why}): write key=value; --help shows every key.") from left
        except (HydraException, OmegaConfBaseException, ValueError) as error:
            raise sentence(error) from error
    sys.stderr.write(complaint.getvalue())
    if shown.getvalue():
        show(shown.getvalue().rstrip("\n"))
    return collected


@contextmanager
def quiet() -> Iterator[None]:
    """Hydra raises instead of printing and exiting, and what it insists on writing under `-m` goes away with a scratch directory."""
    before = os.environ.get("HYDRA_FULL_ERROR")
    os.environ["HYDRA_FULL_ERROR"] = "1"
    with tempfile.TemporaryDirectory(prefix="kernelwright-") as scratch:
        OmegaConf.register_new_resolver("scratch", lambda: scratch, replace=True)
        try:
            yield
        finally:
            os.environ.pop("HYDRA_FULL_ERROR") if before is None else os.environ.update(HYDRA_FULL_ERROR=before)


def sentence(error: BaseException) -> UserError:
    """Hydra's and OmegaConf's complaint as one sentence with the near names."""
    if isinstance(error, MissingConfigException) and error.missing_cfg_file and error.options is not None:
        group, _, name = error.missing_cfg_file.rpartition("/")
        return unknown(group or "config", name, error.options)
    cause: Any = error if isinstance(error, OmegaConfBaseException) else error.__cause__
    if isinstance(cause, OmegaConfBaseException) and cause.full_key:
        parent = cause.parent_node
        if not isinstance(parent, DictConfig):
            return UserError(f"{str(cause.full_key).rpartition('.')[0]} is a plain value, it has no key {str(cause.key)!r}.")
        keys = [str(k) for k in parent]
        prefix = str(cause.full_key).rpartition(".")[0]
        if str(cause.key) not in keys:
            return unknown("key", str(cause.full_key), [f"{prefix}.{key}" if prefix else key for key in keys if key != "hydra"])
        return UserError(f"{cause.full_key}: {first_line(cause)}")
    if isinstance(error, OverrideParseException):
        why = first_line(error).rstrip(".")
        return UserError(f"Cannot read {error.override!r} ({why}): write key=value, in quotes where it holds brackets or spaces.")
    return UserError(first_line(error))


def first_line(error: BaseException) -> str:
    return str(error).strip().splitlines()[0].rstrip(".") + "."
