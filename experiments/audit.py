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
from benchmark.errors import UserError
from experiments import keys, layout, recheck, reconcile, statements
from experiments.totals import audit

KEYS = ("run", "runs", "format", "prices", "check", "reconcile")
DIFFERENT = 3


def options(words: Sequence[str]) -> dict[str, str]:
    picked = {"format": "table", "check": "false", **keys.chosen(words, KEYS)}
    keys.one_of("format", picked["format"], layout.FORMATS)
    keys.one_of("check", picked["check"], ("true", "false"))
    if picked["check"] == "true" and "reconcile" in picked:
        raise UserError("check=true and reconcile=FILE are two questions with one exit code: ask them one after the other.")
    return picked


def settle(chosen: Mapping[str, str]) -> tuple[str, list[str]]:
    """What is shown, and the differences that were found."""
    runs = keys.runs(chosen, "experiments.audit")
    rows = prices.table(Path(chosen["prices"])) if "prices" in chosen else {}
    if "reconcile" in chosen:
        found = reconcile.reconcile(runs, rows, statements.read(keys.listed(chosen["reconcile"])))
        return layout.RECONCILED[chosen["format"]](found), [f"{len(found['differences'])} differences"] if found["differences"] else []
    report = audit(runs, rows)
    if chosen["check"] == "true":
        report["check"] = recheck.recheck(report, [run.path for run in runs], rows)
    return layout.FORMATS[chosen["format"]](report), report.get("check", {}).get("differences", [])


def act(words: Sequence[str]) -> int:
    text, differences = settle(options(words))
    show(text.rstrip("\n"))
    return DIFFERENT if differences else 0


def main() -> int:
    return keys.command(str(__doc__), act)


if __name__ == "__main__":
    sys.exit(main())
