"""What tokens cost: the user's figures, then a pinned table, then litellm's bundled one. An unknown price is None, never 0."""

import hashlib
import json
import re
from collections.abc import Mapping
from dataclasses import asdict, dataclass, fields
from functools import cache
from importlib import metadata
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from agents.models.base import Usage
from benchmark.errors import UserError

PINNED = Path(__file__).with_name("prices.json")
BUNDLED = "model_prices_and_context_window_backup.json"


@dataclass(frozen=True)
class Rates:
    """USD per million tokens; None is unknown."""

    input: float | None = None
    cache_read: float | None = None
    cache_write_5m: float | None = None
    cache_write_1h: float | None = None
    output: float | None = None

    def cost(self, usage: Usage) -> float | None:
        """None where a kind was used whose rate is unknown."""
        total = 0.0
        for kind in KINDS:
            tokens, rate = getattr(usage, kind), getattr(self, kind)
            if tokens and rate is None:
                return None
            total += tokens * (rate or 0.0) / 1e6
        return total

    def upper(self, prompt: int, output: int) -> float | None:
        """Every prompt token at its dearest kind."""
        if self.input is None or self.output is None:
            return None
        dearest = max(rate for rate in (self.input, self.cache_read, self.cache_write_5m, self.cache_write_1h) if rate is not None)
        return (prompt * dearest + output * self.output) / 1e6


KINDS = tuple(kind.name for kind in fields(Rates))
"""Kinds that are charged; reasoning is a part of output."""


@dataclass(frozen=True)
class Row:
    """A model's prices. `long` replaces `rates` for the whole call once its prompt exceeds `long_above` tokens."""

    name: str
    source: str
    rates: Rates
    batch: float | None = None
    """Factor on all rates in the provider's batch tier."""
    long_above: int | None = None
    long: Rates | None = None
    date: str | None = None
    """When the prices were as they stand here; None where only the source's revision is known."""

    def cost(self, usage: Usage, tier: str = "standard") -> float | None:
        factor = {"standard": 1.0, "batch": self.batch}.get(tier)
        cost = self.at(usage.total - usage.output).cost(usage)
        return None if factor is None or cost is None else cost * factor

    def parts(self, usage: Usage, tier: str = "standard") -> dict[str, float | None]:
        """The cost by kind; what is added up in `cost`."""
        factor = {"standard": 1.0, "batch": self.batch}.get(tier)
        rates = self.at(usage.total - usage.output)
        costs = {kind: rates.cost(Usage(**{kind: getattr(usage, kind)})) for kind in KINDS}
        return {kind: None if cost is None or factor is None else cost * factor for kind, cost in costs.items()}

    def upper(self, prompt: int, output: int, tier: str = "standard") -> float | None:
        """Upper bound in USD of a call with at most so many tokens. A batch whose factor is unknown costs no more than the standard;
        what any other tier costs is unknown."""
        if tier not in ("standard", "batch"):
            return None
        factor = self.batch if tier == "batch" and self.batch is not None else 1.0
        bounds = [self.rates.upper(prompt, output), self.at(prompt).upper(prompt, output)]
        return None if None in bounds else factor * max(bound for bound in bounds if bound is not None)

    def at(self, prompt: int) -> Rates:
        """What holds for a call whose prompt has so many tokens, cached ones included."""
        return self.long if self.long is not None and self.long_above is not None and prompt > self.long_above else self.rates


FREE = Row("free", "embedded or replayed", Rates(0.0, 0.0, 0.0, 0.0, 0.0), batch=1.0)
"""Of models that nobody is charged for, whatever is unknown of their usage."""


class Prices:
    """Looks a model's price row up: the user's overrides, the pinned table, then litellm's bundled map."""

    def __init__(self, pinned: Mapping[str, Any], overrides: Mapping[str, Any] | None = None, kept: Mapping[str, Row | None] | None = None):
        self.pinned = pinned
        self.overrides = {name: _override(name, row) for name, row in (overrides or {}).items()}
        self.kept = kept or {}
        """What models cost when their run was started, before all else: a run's books know one price of a model, or none."""
        self.used: dict[str, Row] = {}

    @classmethod
    def load(cls, overrides: Mapping[str, Any] | None = None, kept: Mapping[str, Row | None] | None = None) -> "Prices":
        return cls(_pinned(), overrides, kept)

    def row(self, model: str, free: bool = False) -> Row | None:
        """The prices of `provider/model`, or None where they are unknown."""
        row = self._find(model, free)
        if row is not None:
            self.used[model] = row
        return row

    def to_dict(self) -> dict[str, Any]:
        """The rows that were looked up, with the table's date and sources: what a run stores, so that its money can be recomputed."""
        head = {key: self.pinned[key] for key in ("schema_version", "date", "unit", "source")}
        return {**head, "models": {model: asdict(row) for model, row in sorted(self.used.items())}}

    def _find(self, model: str, free: bool) -> Row | None:
        if free:
            return FREE
        if model in self.kept:
            return self.kept[model]
        if model in self.overrides:
            return self.overrides[model]
        if model in self.pinned["models"]:
            return _row(model, {"date": self.pinned["date"], **self.pinned["models"][model]})
        return _bundled(model)


def stored(document: Mapping[str, Any]) -> dict[str, Row]:
    """The rows of a run's `prices.json`, by model."""
    return {model: _stored(row) for model, row in document.get("models", {}).items()}


def table(path: Path) -> dict[str, Row]:
    """Rows by model from a file of the user's, JSON or YAML: a table like the pinned one, a run's `prices.json`, or a config's `prices`."""
    from omegaconf import OmegaConf

    try:
        document: Any = OmegaConf.to_container(OmegaConf.load(path))
    except Exception as error:  # Whatever a parser says of a file that is none.
        raise UserError(f"The price table {path} cannot be read: {str(error).splitlines()[0]}.") from error
    document = document if isinstance(document, Mapping) else {}
    entries = document.get("models", document.get("prices", document))
    if not isinstance(entries, Mapping) or not entries:
        raise UserError(f"{path} has no prices: it must map models (provider/name) to input and output in USD per million tokens.")
    return {str(name): _given(str(name), entry, str(path), "models" in document) for name, entry in entries.items()}


def _given(name: str, entry: Any, source: str, whole: bool) -> Row:
    """`whole`: kinds that are not given are unknown; else they are as in the run's config."""
    if isinstance(entry, Mapping) and "rates" in entry:
        return _stored(entry)
    if not whole:
        return _override(name, entry, source)
    _check(name, {key: value for key, value in entry.items() if key not in ("source", "date")} if isinstance(entry, Mapping) else entry)
    return _row(name, {"source": source, **entry})


def _stored(row: Mapping[str, Any]) -> Row:
    return Row(**{**row, "rates": Rates(**row["rates"]), "long": Rates(**row["long"]) if row["long"] else None})


def _row(name: str, entry: Mapping[str, Any]) -> Row:
    rates = Rates(**{kind: entry.get(kind) for kind in KINDS})
    long = entry.get("long")
    return Row(name, entry["source"], rates, entry.get("batch"), long["above"] if long else None,
               Rates(**{kind: long.get(kind) for kind in KINDS}) if long else None, entry.get("date"))  # fmt: skip


def _override(name: str, entry: Any, source: str = "the run's config") -> Row:
    """Kinds of input that are not given cost as much as input."""
    _check(name, entry)
    long = {"long": _inputs(entry["long"])} if "long" in entry else {}
    return _row(f"config:{name}", {**_inputs(entry), **long, "source": source})


def _inputs(entry: Mapping[str, Any]) -> dict[str, Any]:
    return {"cache_read": entry["input"], "cache_write_5m": entry["input"], "cache_write_1h": entry["input"], **entry}


def _check(name: str, entry: Any, others: tuple[str, ...] = ("batch", "long")) -> None:
    """Raises UserError where an entry that a user wrote is none."""
    optional = sorted({*KINDS, *others} - {"input", "output"})
    if not isinstance(entry, Mapping) or not {"input", "output"} <= set(entry) <= {"input", "output", *optional}:
        raise UserError(f"prices.{name!r} must give input and output, and may give {', '.join(optional)}.")
    for key, value in entry.items():
        if key == "long":
            _check(f"{name}.long", value, ("above",))
        elif isinstance(value, bool) or not isinstance(value, int | float) or not 0 <= value < float("inf"):
            raise UserError(f"prices.{name!r}.{key} must be a number that is not negative (USD per million tokens), not {value!r}.")
    if others == ("above",) and "above" not in entry:
        raise UserError(f"prices.{name!r} must say above how many prompt tokens it holds (above: 200000).")


@cache
def _pinned() -> dict[str, Any]:
    return json.loads(PINNED.read_text(encoding="utf-8"))


@cache
def bundled() -> tuple[dict[str, Any], str]:
    """litellm's price map and its revision, read without importing litellm; empty where it is not installed."""
    spec = find_spec("litellm")
    if spec is None or not spec.submodule_search_locations:
        return {}, ""
    raw = (Path(spec.submodule_search_locations[0]) / BUNDLED).read_bytes()
    return json.loads(raw), f"litellm {metadata.version('litellm')}, {BUNDLED}, sha256 {hashlib.sha256(raw).hexdigest()[:12]}"


def _bundled(model: str) -> Row | None:
    table, revision = bundled()
    provider, _, name = model.partition("/")
    entry = table.get(model)
    if entry is None and table.get(name, {}).get("litellm_provider") == provider:
        entry = table[name]
    if entry is None or "input_cost_per_token" not in entry or "output_cost_per_token" not in entry or len(thresholds(entry)) > 1:
        return None
    return _row(f"litellm:{model}", {**convert(entry), "source": revision})


def convert(entry: Mapping[str, Any]) -> dict[str, Any]:
    """An entry of litellm's map in our kinds and unit."""
    row = _kinds(entry, "")
    batches = [key for key in ("input", "output") if entry.get(f"{key}_cost_per_token_batches") is not None and row[key]]
    factors = {round(entry[f"{key}_cost_per_token_batches"] * 1e6 / row[key], 6) for key in batches}
    if len(factors) == 1 and len(batches) == 2:
        row["batch"] = factors.pop()
    for thousands in thresholds(entry):
        row["long"] = {"above": thousands * 1000, **_kinds(entry, f"_above_{thousands}k_tokens")}
    return row


def thresholds(entry: Mapping[str, Any]) -> list[int]:
    """Prompt sizes, in thousands of tokens, above which other prices hold."""
    return [int(match[1]) for key in entry if (match := re.fullmatch(r"input_cost_per_token_above_(\d+)k_tokens", key))]


def _kinds(entry: Mapping[str, Any], suffix: str) -> dict[str, Any]:
    names = {
        "input": "input_cost_per_token",
        "cache_read": "cache_read_input_token_cost",
        "cache_write_5m": "cache_creation_input_token_cost",
        "cache_write_1h": "cache_creation_input_token_cost_above_1hr",
        "output": "output_cost_per_token",
    }
    rates = {kind: entry.get(name + suffix) for kind, name in names.items()}
    return {kind: None if rate is None else round(rate * 1e6, 6) for kind, rate in rates.items()}
