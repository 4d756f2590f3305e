"""Hydra's view of the scaffolds: the group `scaffold`, listed without an import, each option read from the chosen module's `Config`."""

from dataclasses import MISSING, Field, fields
from typing import Any

from hydra.core.config_search_path import ConfigSearchPath
from hydra.core.object_type import ObjectType
from hydra.plugins.config_source import ConfigResult, ConfigSource
from hydra.plugins.search_path_plugin import SearchPathPlugin
from omegaconf import OmegaConf

from scaffolds import loader, options

SCHEME = "scaffolds"


class ScaffoldPath(SearchPathPlugin):
    def manipulate_search_path(self, search_path: ConfigSearchPath) -> None:
        search_path.append(provider="kernelwright", path=f"{SCHEME}://")


class ScaffoldSource(ConfigSource):
    """`scaffold/<name>` holds the defaults of the scaffold's `Config`; types and choices are checked by `loader.build_config`."""

    @staticmethod
    def scheme() -> str:
        return SCHEME

    def available(self) -> bool:
        return True

    def is_group(self, config_path: str) -> bool:
        return config_path.strip("/") in ("", "scaffold")

    def is_config(self, config_path: str) -> bool:
        group, _, name = config_path.strip("/").partition("/")
        return group == "scaffold" and name.removesuffix(".yaml") in loader.names()

    def list(self, config_path: str, results_filter: ObjectType | None) -> list[str]:
        path = config_path.strip("/")
        if path == "":
            return [] if results_filter == ObjectType.CONFIG else ["scaffold"]
        return loader.names() if path == "scaffold" and results_filter != ObjectType.GROUP else []

    def load_config(self, config_path: str) -> ConfigResult:
        name = config_path.strip("/").partition("/")[2].removesuffix(".yaml")
        values = {f.name: default(f) for f in fields(loader.config_of(name))}
        return ConfigResult(self.provider, self.full_path(), OmegaConf.create(values), header={"package": None})


def default(field: Field[Any]) -> Any:
    """The field's default; null for `rounds`, so that the run's own `rounds` can be told from a choice, and ??? where it must be given."""
    value = options.default(field)
    if field.name == "rounds":
        return None
    return list(value) if isinstance(value, tuple) else "???" if value is MISSING else value
