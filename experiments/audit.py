"""What runs cost: `python -m experiments.audit run=runs/<id> [key=value ...]`.

  run=DIR | runs=[DIR,DIR]       one run, or several counted together
  format=table|json|csv|md
  prices=FILE                    values the recorded tokens by other prices: a table like agents/prices.json, or a config's prices
  check=true                     adds everything up a second time, from the raw lines; exit code 3 where anything differs
  reconcile=FILE | [FILE,FILE]   sets the records against a provider's usage or cost export (OpenAI, Anthropic; CSV or JSON);
                                 exit code 3 where anything differs

Reads the runs' files only. All spend is charged: failed tries, retries, replies without code, planners' and reflectors' calls.
Money is recorded tokens times recorded prices, reckoned anew at each reading.
"""

import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

from agents import prices
from benchmark.console import show
from benchmark.errors import UserError, unknown
from experiments import exports, layout, recheck, reconcile
from experiments.runs import Run
from experiments.totals import audit

KEYS = ("run", "runs", "format", "prices", "check", "reconcile")
DIFFERENT = 3


def options(words: Sequence[str]) -> dict[str, str]:
    chosen = {"format": "table", "check": "false"}
    for word in words:
        key, equals, value = word.partition("=")
        if not equals or key not in KEYS:
            raise unknown("key", key, KEYS)
        chosen[key] = value
    if ("run" in chosen) == ("runs" in chosen):
        raise UserError("Name the run: python -m experiments.audit run=runs/<run_id>, or several: runs=[runs/<a>,runs/<b>].")
    if chosen["format"] not in layout.FORMATS:
        raise unknown("format", chosen["format"], layout.FORMATS)
    if chosen["check"] not in ("true", "false"):
        raise unknown("value of check", chosen["check"], ("true", "false"))
    if chosen["check"] == "true" and "reconcile" in chosen:
        raise UserError("check=true and reconcile=FILE are two questions with one exit code: ask them one after the other.")
    return chosen


def listed(text: str) -> list[Path]:
    """The paths in `a` or `[a,b]`."""
    return [Path(part.strip()) for part in text.strip("[]").split(",") if part.strip()]


def opened(text: str) -> list[Run]:
    paths = listed(text)
    if not paths or len({path.resolve() for path in paths}) < len(paths):
        raise UserError(f"runs={text} must name different run directories.")
    return [Run(path) for path in paths]


def settle(chosen: Mapping[str, str]) -> tuple[str, list[str]]:
    """What is shown, and the differences that were found."""
    runs = opened(chosen.get("runs", chosen.get("run", "")))
    rows = prices.table(Path(chosen["prices"])) if "prices" in chosen else {}
    if "reconcile" in chosen:
        found = reconcile.reconcile(runs, rows, exports.read(listed(chosen["reconcile"])))
        return layout.RECONCILED[chosen["format"]](found), [f"{len(found['differences'])} differences"] if found["differences"] else []
    report = audit(runs, rows)
    if chosen["check"] == "true":
        report["check"] = recheck.recheck(report, [run.path for run in runs], rows)
    return layout.FORMATS[chosen["format"]](report), report.get("check", {}).get("differences", [])


def main() -> int:
    if {"-h", "--help"} & set(sys.argv[1:]):
        show(str(__doc__))
        return 0
    try:
        text, differences = settle(options(sys.argv[1:]))
    except UserError as error:
        print(error, file=sys.stderr)
        return 2
    show(text.rstrip("\n"))
    return DIFFERENT if differences else 0


if __name__ == "__main__":
    sys.exit(main())
